package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/ckpt/erasure"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// A goal is a row of the table of goals.
type goal struct {
	what, anchor, unit string
	ours               []float64
	ratio              []float64 // to the measurement beside it; nil: there is none
	want               string
	met                bool
	note               string
}

// goals measures the rows of the table of goals.
func (b *bench) goals() (*table, error) {
	t := &table{id: "goals", title: []string{"subject", "anchor", "ours, median (quartiles)", "ratio", "goal", "met"}}
	for _, m := range []struct {
		about string // matched with -only
		take  func() ([]goal, error)
	}{
		{"kill to resumed, warm", b.warm},
		{"kill to resumed, cold", b.cold},
		{"commit to node memory", b.commits},
		{"Partners(1)", b.partners},
		{"erasure coding", b.coding},
		{"restore", b.restores},
		{"Commit not due", b.idle},
		{"protection when nothing fails", b.protection},
	} {
		if !strings.Contains(m.about, b.only) {
			continue
		}
		say("%s", m.about)
		all, err := m.take()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.about, err)
		}
		for _, g := range all {
			t.goal(g)
		}
	}
	return t, nil
}

func (t *table) goal(g goal) {
	ratio, met := "", "no"
	if g.ratio != nil {
		ratio = spread(g.ratio)
		t.keep(g.what+", ratio", record.Times, g.ratio)
	}
	if g.met {
		met = "yes"
	}
	t.keep(g.what, g.unit, g.ours)
	t.add(g.what, g.anchor, spread(g.ours)+" "+g.unit+g.note, ratio, g.want, met)
}

// warm is the time from a death until all ranks are in the first barrier of the repaired world,
// with waiting spares.
func (b *bench) warm() ([]goal, error) {
	return b.resumed("warm", map[int]float64{4: 1.5, 8: 2, 16: 3}, b.sizes([]int{4, 8, 16}, []int{4}), "--spares 3",
		"Fenix on Open MPI 5.0.7: 31-58 ms at the first failure, 4-56 later")
}

// cold is the same without spares: the replacements have to be started.
func (b *bench) cold() ([]goal, error) {
	return b.resumed("cold", map[int]float64{4: 4.3, 16: 6.4, 64: 19}, b.sizes([]int{4, 16, 64}, []int{4}), "",
		"a spawn of before: 4.3, 6.4 and 19 ms")
}

func (b *bench) resumed(how string, goals map[int]float64, sizes []int, launch, anchor string) (all []goal, err error) {
	deaths := b.roundsOr(40, 4)
	for _, n := range sizes {
		k, err := b.kills(n, launch, deaths, 0)
		if err != nil {
			return nil, err
		}
		median := record.Median(k.took)
		g := goal{what: fmt.Sprintf("kill to resumed, %s, %d ranks", how, n), anchor: anchor, unit: record.Millis, ours: k.took, want: fmt.Sprintf("<= %g ms", goals[n]), met: median <= goals[n]}
		g.note = fmt.Sprintf("; of %s after it was seen: agree %s, shrink %s, replace %s", short(record.Median(k.phases.seen)),
			short(record.Median(k.phases.agree)), short(record.Median(k.phases.shrink)), short(record.Median(k.phases.replace)))
		if how == "warm" && k.cold > 0 {
			g.note += fmt.Sprintf("; %d of %d replacements were cold", k.cold, len(k.took))
		}
		all = append(all, g)
	}
	return all, nil
}

// committed runs a job of 4 ranks that commit, and returns times in us by their names.
func (b *bench) committed(mib, rounds int, more ...string) (map[string][]float64, error) {
	all, _, err := b.records(4, "", append([]string{"-rank", "commit", "-bytes", strconv.Itoa(mib << 20), "-times", strconv.Itoa(rounds)}, more...)...)
	if err == nil && len(all["commit"]) != rounds {
		err = fmt.Errorf("%d commits were measured, want %d", len(all["commit"]), rounds)
	}
	return all, err
}

// firstCommits are in memory that was never used before.
const firstCommits = 2

func (b *bench) commits() (all []goal, err error) {
	for _, mib := range b.sizes([]int{1, 16}, []int{1}) {
		v, err := b.committed(mib, firstCommits+b.roundsOr(40, 4))
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("commit to node memory, %d MiB, 4 ranks at once", mib)
		later := over(v["commit"][firstCommits:], v["copy"][firstCommits:])
		first := over(v["commit"][:firstCommits], v["fresh"][:firstCommits])
		all = append(all, goal{what: what + ", from the third on", anchor: fmt.Sprintf("memcpy in the same round: %s us; Fenix 7,600 us (1 MiB), 152,000 (16)", short(record.Median(v["copy"]))), unit: record.Micros,
			ours: v["commit"][firstCommits:], ratio: later, want: "<= 1.3 x memcpy", met: record.Median(later) <= 1.3},
			goal{what: what + ", the first two", anchor: fmt.Sprintf("new pages in the same round: %s us", short(record.Median(v["fresh"]))), unit: record.Micros,
				ours: v["commit"][:firstCommits], ratio: first, want: "<= 1.1 x new pages", met: record.Median(first) <= 1.1})
	}
	return all, nil
}

// partners is a commit that sends a copy to another rank, all of which blocks.
func (b *bench) partners() (all []goal, err error) {
	for _, mib := range b.sizes([]int{1, 16}, []int{1}) {
		v, err := b.committed(mib, firstCommits+b.roundsOr(40, 4), "-copies")
		if err != nil {
			return nil, err
		}
		ratio := over(v["commit"][firstCommits:], v["copy"][firstCommits:])
		all = append(all, goal{what: fmt.Sprintf("Partners(1), blocking part of a commit, %d MiB, 4 ranks at once", mib), anchor: fmt.Sprintf("memcpy in the same round: %s us", short(record.Median(v["copy"]))), unit: record.Micros,
			ours: v["commit"][firstCommits:], ratio: ratio, want: "<= 1.4 x memcpy", met: record.Median(ratio) <= 1.4})
	}
	return all, nil
}

// coding makes two pieces of parity out of eight of data, one core alone.
func (b *bench) coding() ([]goal, error) {
	const data, parity, piece = 8, 2, 1 << 20
	code, err := erasure.New(data, parity)
	if err != nil {
		return nil, err
	}
	pieces := func(n int) (all [][]byte) {
		for range n {
			p := make([]byte, piece)
			for i := range p {
				p[i] = byte(i * n)
			}
			all = append(all, p)
		}
		return all
	}
	from, to, copies := pieces(data), pieces(parity), pieces(data)
	var coded, copied []float64
	for range b.roundsOr(40, 4) {
		copied = append(copied, micros(func() {
			for i := range from {
				copy(copies[i], from[i])
			}
		}))
		coded = append(coded, micros(func() { err = code.Encode(from, to) }))
		if err != nil {
			return nil, err
		}
	}
	ratio := over(coded, copied)
	return []goal{{what: "erasure coding 8+2 of 8 MiB", anchor: fmt.Sprintf("memcpy of 8 MiB: %s us", short(record.Median(copied))), unit: record.Micros, ours: coded, ratio: ratio,
		want: "<= 1.5 x memcpy", met: record.Median(ratio) <= 1.5}}, nil
}

// restores is how fast a replacement has its data, all of Protect, beside a copy into new memory.
func (b *bench) restores() (all []goal, err error) {
	for _, mib := range b.sizes([]int{16, 64}, []int{1}) {
		k, err := b.kills(2, "--spares 2", b.roundsOr(10, 2), mib<<20)
		if err != nil {
			return nil, err
		}
		var speed []float64
		for _, ms := range k.restore {
			speed = append(speed, float64(mib<<20)/1e6/ms)
		}
		ratio := over(k.fresh, k.restore)
		all = append(all, goal{what: fmt.Sprintf("restore of %d MiB in a replacement, 2 ranks", mib), anchor: fmt.Sprintf("a copy into new memory there: %.3g ms", record.Median(k.fresh)), unit: "GB/s",
			ours: speed, ratio: ratio, want: ">= 0.8 x its speed", met: record.Median(ratio) >= 0.8})
	}
	return all, nil
}

func (b *bench) idle() ([]goal, error) {
	v, _, err := b.records(4, "", "-rank", "idle", "-times", strconv.Itoa(b.roundsOr(21, 3)))
	if err != nil {
		return nil, err
	}
	var ns []float64
	for _, us := range v["idle"] {
		ns = append(ns, 1000*us)
	}
	return []goal{{what: "Commit not due, 4 ranks", unit: "ns", ours: ns, want: "<= 100 ns", met: record.Median(ns) <= 100}}, nil
}
