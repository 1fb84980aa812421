package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

// agreements are the measured ways to agree: in the memory of the node, and by messages.
var agreements = []string{"node", "era"}

// A lot selects count ranks of n that are lost.
type lot struct {
	name string
	of   func(n, count int) []int
}

// lots are the shapes of a failure, as in figure 4b.
var lots = []lot{
	{"side by side", func(n, count int) []int { return run(n/4, count) }},
	{"at random", func(n, count int) []int {
		all := rand.New(rand.NewPCG(uint64(n), uint64(count))).Perm(n)[:count]
		slices.Sort(all)
		return all
	}},
	{"a subtree", subtree},
}

func run(from, count int) (all []int) {
	for i := range count {
		all = append(all, from+i)
	}
	return all
}

// subtree are the first ranks below rank 1, itself included, in the binary tree of agreements: rank
// r has 2r+1 and 2r+2 below it.
func subtree(n, count int) (all []int) {
	for queue := []int{1}; len(queue) > 0 && len(all) < count; queue = queue[1:] {
		if r := queue[0]; r < n {
			all, queue = append(all, r), append(queue, 2*r+1, 2*r+2)
		}
	}
	return all
}

func listOf(ranks []int) string {
	var all []string
	for _, r := range ranks {
		all = append(all, strconv.Itoa(r))
	}
	return strings.Join(all, ",")
}

var paperTitle = []string{"figure", "subject", "paper", "simulated", "measured here", "measured / simulated"}

// fenix is figures 4a to 4c, and the overhead of a program that loses ranks.
func (b *bench) fenix() (*table, error) {
	t := &table{id: "fenix", title: paperTitle}
	for _, part := range []struct {
		id   string
		take func(*table) error
	}{{"4a", b.shrinks}, {"4b", b.shapes}, {"4c", b.repairs}, {"overhead", b.overhead}} {
		if !strings.Contains(part.id, b.only) {
			continue
		}
		if err := part.take(t); err != nil {
			return nil, fmt.Errorf("%s: %w", part.id, err)
		}
	}
	return t, nil
}

// shrink measures the time of a shrink several times, in us.
func (b *bench) shrink(n int, agree string, lost []int) (all []float64, err error) {
	for range b.roundsOr(5, 1) {
		v, _, err := b.records(n, "--agree "+agree, "-rank", "shrink", "-pause", "20ms", "-lost", listOf(lost))
		if err != nil {
			return nil, err
		}
		all = append(all, v["shrink"]...)
	}
	return all, nil
}

// compare adds a row with the measured values beside the simulated value of the same size, in us.
func (t *table) compare(id, what, paper string, sim *graph, curve string, x float64, measured []float64) {
	simulated, ratio := "", ""
	if y, ok := sim.value(curve, x); ok {
		simulated, ratio = short(y)+" us", short(record.Median(measured)/y)
	}
	t.keep(id+" "+what, record.Micros, measured)
	if len(t.rows) > 0 && t.rows[len(t.rows)-1][0] == id {
		paper = "" // the row above has the same text
	}
	t.add(id, what, paper, simulated, spread(measured)+" us", ratio)
}

// shrinks is figure 4a: shrinks over the number of lost processes.
func (b *bench) shrinks(t *table) error {
	sim, err := readGraph(b.simulated, "fenix4a")
	if err != nil {
		return err
	}
	g := &graph{id: "fenix4a", xLabel: "processes lost", yLabel: "us of a shrink"}
	for _, n := range b.sizes([]int{16, 64}, []int{4}) {
		for _, agree := range agreements {
			for count := 1; count <= n/2; count *= 2 {
				say("4a: %d of %d lost, --agree %s", count, n, agree)
				took, err := b.shrink(n, agree, lots[0].of(n, count))
				if err != nil {
					return err
				}
				g.at(fmt.Sprintf("measured, %d processes, --agree %s", n, agree), float64(count), record.Median(took))
				t.compare("4a", fmt.Sprintf("shrink of %d, %d lost side by side, --agree %s", n, count, agree), "2,197 processes: 0.43 s with 16 lost, and the fewer the faster; Log2phases 6.85 s, however many", sim,
					fmt.Sprintf("era, %d processes", n), float64(count), took)
			}
		}
	}
	return g.write(b.out)
}

// shapes is figure 4b: a quarter is lost, in several shapes, of more and more processes.
func (b *bench) shapes(t *table) error {
	sim, err := readGraph(b.simulated, "fenix4b")
	if err != nil {
		return err
	}
	g := &graph{id: "fenix4b", xLabel: "processes", yLabel: "us of a shrink"}
	for _, shape := range lots {
		for _, n := range b.sizes([]int{16, 32, 64}, []int{4}) {
			say("4b: a quarter of %d lost %s", n, shape.name)
			took, err := b.shrink(n, "era", shape.of(n, n/4))
			if err != nil {
				return err
			}
			g.at("measured, a quarter lost "+shape.name+", --agree era", float64(n), record.Median(took))
			t.compare("4b", fmt.Sprintf("shrink of %d, a quarter lost %s, --agree era", n, shape.name), "256 cores lost: almost an order of magnitude faster, at more cores than before; the position of the lost nodes matters", sim,
				"era, a quarter lost "+shape.name, float64(n), took)
		}
	}
	return g.write(b.out)
}

// repairs is figure 4c: a whole repair, and the phases that package recovery reports.
func (b *bench) repairs(t *table) error {
	sim, err := readGraph(b.simulated, "fenix4c")
	if err != nil {
		return err
	}
	g := &graph{id: "fenix4c", xLabel: "processes", yLabel: "us of a repair"}
	for _, n := range b.sizes([]int{4, 8, 16, 32, 64}, []int{4}) {
		say("4c: repairs of %d", n)
		k, err := b.kills(n, "", b.roundsOr(20, 3), 0)
		if err != nil {
			return err
		}
		var whole []float64
		for _, ms := range k.took {
			whole = append(whole, 1000*ms)
		}
		g.at("measured: from the death until all are back", float64(n), record.Median(whole))
		text := ""
		for _, p := range []struct {
			name string
			ms   []float64
		}{{"seen to end", k.phases.seen}, {"agree", k.phases.agree}, {"shrink", k.phases.shrink}, {"replace", k.phases.replace}} {
			if len(p.ms) == 0 {
				return fmt.Errorf("%d ranks: no repair was told of", n)
			}
			g.at("measured: "+p.name, float64(n), 1000*record.Median(p.ms))
			text += fmt.Sprintf(", %s %.1f", p.name, record.Median(p.ms))
		}
		t.compare("4c", fmt.Sprintf("repair of %d that have lost one, new processes (ms%s)", n, text), "16 lost: below 1.4 s above 10,000, linear", sim, "era, as here: six agreements and an exchange", float64(n), whole)
	}
	return g.write(b.out)
}

// daly is the least overhead of a program with the given time of a commit and of a restart, both in
// seconds, by Daly's optimum of first order. It consists of the commits, the repeated computation,
// and the repairs.
func daly(cost, restart, mtbf float64) float64 {
	interval := math.Sqrt(2 * cost * mtbf)
	return cost/interval + (interval/2+restart)/mtbf
}

// An s3d holds the times of the stand-in in each round, in s, in one setting.
type s3d struct {
	mtbf     float64 // s, between the deaths of ranks; 0: no rank dies
	how      string  // the flags for its commits
	took     []float64
	overhead []float64 // over the first setting of the same round, in %
	repairs  []float64 // in ms
}

// overhead is the overhead of S3D in Fenix: a small stand-in loses a rank every now and then.
// Settings take turns.
func (b *bench) overhead(t *table) error {
	steps, mtbfs := 500, []float64{4, 2, 1}
	if b.quick {
		steps, mtbfs = 5, []float64{1}
	}
	all := []*s3d{{how: "-every 1000000000"}, {how: "-every 1"}}
	for _, mtbf := range mtbfs {
		all = append(all, &s3d{mtbf: mtbf, how: fmt.Sprintf("-every 0 -mtbf %gs", mtbf)})
	}
	for round := range b.roundsOr(3, 1) {
		for _, s := range all {
			say("s3d, round %d, MTBF %g s, %s", round, s.mtbf, s.how)
			if err := b.runS3D(s, steps); err != nil {
				return err
			}
			s.overhead = append(s.overhead, 100*(s.took[round]/all[0].took[round]-1))
		}
	}
	alone := record.Median(all[0].took)
	cost := max(record.Median(all[1].overhead), 0) / 100 * alone / float64(steps) // of a commit, in s
	g := &graph{id: "fenixmtbf", xLabel: "MTBF, s", yLabel: "overhead, %"}
	papers := map[float64]string{1: "47 s: 31 %, 17.9 with ERA", 2: "94 s: 15 %, 8.4 with ERA", 4: "189 s: 10 %, 6.2 with ERA"}
	for _, s := range all[1:] {
		t.keep("s3d "+s.how, record.Percent, s.overhead)
		if s.mtbf == 0 {
			t.add("overhead", fmt.Sprintf("s3d, %d ranks on 4 simulated nodes, %.1f s, nobody lost, a commit after each of %d steps", s3dRanks, alone, steps), "", "", spread(s.overhead)+" %", "")
			continue
		}
		g.at("measured: s3d, 16 ranks on 4 simulated nodes", s.mtbf, record.Median(s.overhead))
		least := 100 * daly(cost, record.Median(s.repairs)/1000, s.mtbf)
		t.add("overhead", fmt.Sprintf("s3d, %d ranks on 4 simulated nodes, a rank lost each %g s: %.1f repairs of %.0f ms in %.1f s", s3dRanks, s.mtbf, float64(len(s.repairs))/float64(len(s.took)), record.Median(s.repairs), record.Median(s.took)),
			papers[s.mtbf], fmt.Sprintf("%.1f %% by Daly's optimum, with commits of %.2f ms", least, 1000*cost), spread(s.overhead)+" %", short(record.Median(s.overhead)/least))
	}
	return g.write(b.out)
}

// s3dRanks is the number of ranks of s3d; each of them is killed once at most.
const s3dRanks = 16

// runS3D runs s3d once.
func (b *bench) runS3D(s *s3d, steps int) error {
	file, err := b.example("s3d")
	if err != nil {
		return err
	}
	launch := "--host 4 --ppn 4"
	for i := range s3dRanks {
		if s.mtbf > 0 {
			launch += fmt.Sprintf(" --kill %d@%gs", 5*i%s3dRanks, s.mtbf*float64(i+1))
		}
	}
	r, err := b.job(s3dRanks, launch, file, append([]string{"-steps", strconv.Itoa(steps)}, strings.Fields(s.how)...)...)
	if err != nil {
		return err
	}
	s.took = append(s.took, r.Took.Seconds())
	s.repairs = append(s.repairs, phasesOf(r.Stderr).seen...)
	return nil
}
