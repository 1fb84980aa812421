package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	wrongMax = 20              // number of wrong rounds after which the driver ends
	progress = 3 * time.Second // between two progress lines
)

// drive runs the rounds and returns the exit code.
func drive(o options, out io.Writer) (int, error) {
	if o.list {
		for _, op := range table {
			fmt.Fprintf(out, "%-24s weight %d\n", op.name, op.weight)
		}
		return 0, nil
	}
	play := func(r *round) *result { return runThreads(&o, r) }
	if o.mode != modeGoroutines {
		st, err := openStage(&o)
		if err != nil {
			return 0, err
		}
		defer st.close()
		play = st.run
	}
	t := o.rehearse(out, play)
	t.print(out)
	if len(t.failed) > 0 {
		return 1, nil
	}
	return 0, nil
}

// rehearse runs round after round. An interrupt ends it after the current round.
func (o *options) rehearse(out io.Writer, play func(*round) *result) *tally {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t := newTally()
	fmt.Fprintf(out, "randprog: %s, seeds from %d on\n", o.mode, o.seed)
	told := time.Now()
	for seed := o.seed; ; seed++ {
		if o.rounds > 0 && t.rounds >= o.rounds || o.span > 0 && time.Since(t.start) >= o.span || len(t.failed) >= wrongMax || ctx.Err() != nil {
			return t
		}
		r := draw(seed, o.mode, o.points)
		if !r.has(o.with) {
			continue
		}
		res := play(r)
		bad := res.judge()
		t.add(res, bad)
		if o.verbose {
			fmt.Fprintf(out, "seed %d: %s\n%s", seed, r, res.logs)
		}
		if bad != "" {
			fmt.Fprintf(out, "\nWRONG: %s\nseed %d: %s; dead: %v\nagain: %s\n", bad, seed, r, slices.Sorted(maps.Keys(res.dead)), o.again(seed))
			if !o.verbose {
				fmt.Fprint(out, res.logs)
			}
			fmt.Fprintln(out, res.transcript)
		}
		if time.Since(told) >= progress {
			told = time.Now()
			fmt.Fprintf(out, "%s: %d rounds, %d wrong, %d dead, %.1f a second, seed %d\n", since(t.start), t.rounds, len(t.failed), t.dead, float64(t.rounds)/time.Since(t.start).Seconds(), seed)
		}
	}
}

// A tally counts operations, deaths and worlds, which also shows the missing ones.
type tally struct {
	start  time.Time
	rounds int
	dead   int
	failed []uint64
	ops    map[string]map[string]int // number of results by operation and class
	deaths map[string]int
	worlds map[string]int
	steps  int
	slow   time.Duration
}

func newTally() *tally {
	return &tally{start: time.Now(), ops: map[string]map[string]int{}, deaths: map[string]int{}, worlds: map[string]int{}}
}

func (t *tally) add(res *result, bad string) {
	t.rounds++
	t.dead += len(res.dead)
	t.slow = max(t.slow, res.took)
	if bad != "" {
		t.failed = append(t.failed, res.r.seed)
	}
	for _, records := range res.logs {
		for _, r := range records {
			switch r.What {
			case recEnd:
				t.steps++
				if t.ops[r.Op] == nil {
					t.ops[r.Op] = map[string]int{}
				}
				class := r.Class
				if class == "" {
					class = "right"
				}
				t.ops[r.Op][class]++
			case recDie:
				t.deaths[r.Op]++
			}
		}
	}
	for _, word := range res.r.features() {
		t.worlds[word]++
	}
}

// features returns the features by which rounds are counted.
func (r *round) features() []string {
	all := []string{fmt.Sprintf("%d ranks", r.n)}
	for _, flag := range []string{"ring", "--suspect-after", "--fence", "era", "--host", "--stop", "--cut"} {
		if slices.Contains(r.launch, flag) {
			all = append(all, flag)
		}
	}
	for _, e := range r.env {
		name, _, _ := strings.Cut(e, "=")
		all = append(all, name)
	}
	for _, w := range []struct {
		on   bool
		word string
	}{{r.uniform, "uniform"}, {r.onecpu, "one core"}, {r.load, "load"}, {r.points, "kill points"}, {r.choice != "", "chosen ways"},
		{r.handler > 0, "handler"}, {r.nodes != nil, "nodes"}, {r.frame > 0, "frame"}, {len(r.dooms) == 0 && r.frame == 0, "nobody dies"}} {
		if w.on {
			all = append(all, w.word)
		}
	}
	return all
}

// has reports whether a round has all features of a list.
func (r *round) has(list string) bool {
	all := r.features()
	for f := range strings.SplitSeq(list, ",") {
		if f != "" && !slices.Contains(all, f) {
			return false
		}
	}
	return true
}

func (t *tally) print(out io.Writer) {
	took := time.Since(t.start)
	fmt.Fprintf(out, "rounds=%d wrong=%d dead=%d steps=%d in %v, %.1f a second, the longest %v\n", t.rounds, len(t.failed), t.dead, t.steps,
		took.Round(time.Millisecond), float64(t.rounds)/took.Seconds(), t.slow.Round(time.Millisecond))
	for _, op := range slices.Sorted(maps.Keys(t.ops)) {
		fmt.Fprintf(out, "  %-24s %s\n", op, counts(t.ops[op]))
	}
	fmt.Fprintf(out, "deaths by their own doing: %s\nrounds with: %s\n", counts(t.deaths), counts(t.worlds))
	if len(t.failed) > 0 {
		fmt.Fprintf(out, "seeds of wrong rounds: %v\n", t.failed)
	}
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
