package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/examples/plate"
)

var small = options{Options: plate.Options{NX: 7, NY: 9, Steps: 20, Tol: 1.6e-2, Print: 5}, every: 3}

// A kill ends a rank of the first communicator when that rank reaches a point. With after, the rank
// runs for that number of time slices of the scheduler and dies inside an operation.
type kill struct {
	rank  int
	point string
	n     int
	after int
}

// outcome is the output and the errors of a run.
type outcome struct {
	mu     sync.Mutex
	lines  []string
	sums   []uint64 // of the ranks that reached the end
	errs   []error
	marks  map[string]bool
	killed map[int]bool
}

func (o *outcome) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, strings.TrimSpace(string(p)))
	return len(p), nil
}

func (o *outcome) with(prefix string) (found []string) {
	for _, l := range o.lines {
		if strings.HasPrefix(l, prefix) {
			found = append(found, l)
		}
	}
	return found
}

// run computes on n ranks and kills some of them.
func run(t testing.TB, n int, opts options, kills ...kill) *outcome {
	o := &outcome{marks: map[string]bool{}, killed: map[int]bool{}}
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		s := newSolver(w, opts, o)
		me := w.Rank()
		h := &hand{w: w}
		s.mark = func(_ *comm.Comm, point string, k int) { o.point(h, kills, me, point, k) }
		err := s.solve(ctx)
		h.stop()
		o.mu.Lock()
		defer o.mu.Unlock()
		switch {
		case err == nil:
			o.sums = append(o.sums, s.checksum)
		case !o.killed[me] || !errors.Is(err, comm.ErrFenced):
			o.errs = append(o.errs, fmt.Errorf("rank %d: %w", me, err))
		}
	})
	return o
}

// A hand kills one rank, unless that rank has ended.
type hand struct {
	mu   sync.Mutex
	w    *comm.Comm
	over bool
}

func (h *hand) strike() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over {
		commtest.Kill(h.w)
	}
}

func (h *hand) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

// point carries out the kills that are due at a point. Each is done once.
func (o *outcome) point(h *hand, kills []kill, me int, point string, n int) {
	o.mu.Lock()
	o.marks[fmt.Sprint(point, "=", n)] = true
	var due *kill
	for i := range kills {
		if k := &kills[i]; k.rank == me && k.point == point && k.n == n && !o.killed[me] {
			due, o.killed[me] = k, true
			break
		}
	}
	o.mu.Unlock()
	switch {
	case due == nil:
	case due.after == 0:
		h.strike()
	default:
		go func() {
			for range due.after {
				runtime.Gosched()
			}
			h.strike()
		}()
	}
}

// check reports the faults of a run.
func (o *outcome) check(t *testing.T, n int, opts options) {
	t.Helper()
	steps, residual, checksum := plate.Reference(opts.Options)
	want := fmt.Sprintf("result: steps=%d residual=%x checksum=%016x", steps, residual, checksum)
	for _, err := range o.errs {
		t.Error(err)
	}
	// A rank that is killed late may have reached the end before.
	if live := n - len(o.killed); len(o.sums) < live {
		t.Errorf("%d ranks came to the end, want %d", len(o.sums), live)
	}
	for _, sum := range o.sums {
		if sum != checksum {
			t.Errorf("checksum %016x at a rank, want %016x", sum, checksum)
		}
	}
	results := o.with("result")
	// Only the death of a rank that has printed can make another print again.
	most := 1
	if o.killed[0] {
		most += len(o.killed)
	}
	if len(results) == 0 && len(o.sums) > 0 || len(results) > most {
		t.Errorf("%d result lines: %q", len(results), o.lines)
	}
	for _, line := range results {
		if line != want {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
	if t.Failed() {
		t.Logf("output:\n%s", strings.Join(o.lines, "\n"))
	}
}

func TestNoDeath(t *testing.T) {
	for n := 1; n <= small.NY; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			o := run(t, n, small)
			o.check(t, n, small)
			if len(o.with("result")) != 1 || len(o.with("repair")) != 0 || len(o.with("step")) != 2 {
				t.Errorf("output %q", o.lines)
			}
		})
	}
}

func TestStopsByTolerance(t *testing.T) {
	steps, _, _ := plate.Reference(small.Options)
	if steps == small.Steps || steps%small.every == 0 {
		t.Fatalf("%d steps: the tests would not see a stop between two copies", steps)
	}
}

// Each rank dies once at each point that a run without a death passes.
func TestOneDeathAnywhere(t *testing.T) {
	const n = 4
	for point := range run(t, n, small).marks {
		name, k, _ := strings.Cut(point, "=")
		for rank := range n {
			t.Run(fmt.Sprintf("%d@%s", rank, point), func(t *testing.T) {
				var at int
				fmt.Sscan(k, &at)
				o := run(t, n, small, kill{rank: rank, point: name, n: at})
				o.check(t, n, small)
				if repairs := o.with("repair"); len(repairs) != 1 || !strings.Contains(repairs[0], fmt.Sprintf("4 -> 3 ranks, lost [%d]", rank)) {
					t.Errorf("repairs: %q", repairs)
				}
			})
		}
	}
}

// A second rank dies while the first death is being repaired: before the table
// is exchanged, in the middle of the new copy, and with all the rest as well.
func TestDeathDuringRepair(t *testing.T) {
	const n = 5
	for first := range n {
		for second := range n {
			if first == second {
				continue
			}
			t.Run(fmt.Sprint(first, second), func(t *testing.T) {
				for _, point := range []kill{{second, "repair", 1, 0}, {second, "repair", 1, 20}, {second, "copy", 6, 1}} {
					o := run(t, n, small, kill{first, "step", 7, 0}, point)
					o.check(t, n, small)
				}
			})
		}
	}
	all := []kill{{0, "step", 8, 0}, {1, "repair", 1, 0}, {2, "repair", 1, 9}, {3, "copy", 6, 0}}
	run(t, n, small, all...).check(t, n, small)
}

// The rank that has the only copy dies with the owner: the run starts again and reports that.
func TestBlockAndCopyLost(t *testing.T) {
	o := run(t, 5, small, kill{2, "step", 8, 0}, kill{3, "repair", 1, 0})
	o.check(t, 5, small)
	if len(o.with("repair")) == 0 || !strings.Contains(o.with("repair")[0], "back to step 0 (a block and its copy are both lost)") {
		t.Errorf("output %q", o.lines)
	}
}

// The repair makes a new copy at once. When the rank dies that had the only rows of the first
// victim until then, no row is lost.
func TestCopiesAreRenewedByTheRepair(t *testing.T) {
	o := run(t, 5, small, kill{2, "step", 8, 0}, kill{3, "step", 9, 0})
	o.check(t, 5, small)
	repairs := o.with("repair")
	if len(repairs) != 2 {
		t.Fatalf("output %q", o.lines)
	}
	for _, l := range repairs {
		if !strings.Contains(l, "back to step 6 (copy)") {
			t.Error(l)
		}
	}
}

// Random victims at random points, most inside an operation. HEAT_RUNS sets the number of runs.
func TestRandomDeaths(t *testing.T) {
	runs := 150
	fmt.Sscan(os.Getenv("HEAT_RUNS"), &runs)
	rng := rand.New(rand.NewPCG(3, 4))
	points := []string{"step", "step", "step", "copy", "repair", "gather", "report"}
	steps, _, _ := plate.Reference(small.Options)
	tally := map[string]int{}
	for i := range runs {
		n := 2 + rng.IntN(6)
		var kills []kill
		for _, victim := range rng.Perm(n)[:1+rng.IntN(n-1)] {
			k := kill{rank: victim, point: points[rng.IntN(len(points))], after: rng.IntN(2) * rng.IntN(40)}
			switch k.point {
			case "step":
				k.n = 1 + rng.IntN(steps)
			case "copy":
				k.n = min(small.every*(1+rng.IntN(1+steps/small.every)), steps)
			case "repair":
				k.n = 1 + rng.IntN(2)
			default:
				k.n = steps
			}
			kills = append(kills, k)
		}
		o := run(t, n, small, kills...)
		o.check(t, n, small)
		if t.Failed() {
			t.Fatalf("run %d: %d ranks, kills %+v", i, n, kills)
		}
		for _, l := range o.with("repair") {
			tally["repairs"]++
			if strings.Contains(l, "tries") {
				tally["deaths in a repair"]++
			}
			if strings.Contains(l, "both lost") {
				tally["block and copy lost"]++
			}
		}
	}
	t.Log(tally)
}
