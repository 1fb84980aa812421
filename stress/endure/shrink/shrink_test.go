package shrink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestMain(m *testing.M) { trial.RunTests(m, Main, "shrink") }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-rounds 3 -n 1": true, "-rank -seed 2": true, "-n 0": false, "-rounds 0": false, "x": false, "-frob": false,
	})
}

func TestDraw(t *testing.T) {
	var seen [moments]int
	sizes := map[int]int{}
	for seed := range uint64(500) {
		living := []int{1, 2, 5, 7, 8}
		for turn := 0; len(living) > 1; turn++ {
			p := draw(seed, turn, living)
			if again := draw(seed, turn, living); !reflect.DeepEqual(p, again) {
				t.Fatalf("%v, and then %v", p, again)
			}
			if !p.deaths[0].when.starts() {
				t.Fatalf("seed %d: nothing brings about the first death of %v", seed, p)
			}
			for _, d := range p.deaths {
				seen[d.when]++
				if d.barrier < 1 || d.barrier > barriersMax || d.after < 0 || d.after >= instantMax || p.of(d.rank).rank != d.rank {
					t.Fatalf("seed %d: %+v", seed, d)
				}
			}
			next := p.without(living)
			if len(next) != len(living)-len(p.deaths) || len(next) == 0 || len(next) == len(living) {
				t.Fatalf("seed %d: %v of %v leave %v", seed, p, living, next)
			}
			sizes[len(p.deaths)]++
			living = next
		}
		if p := draw(seed, 9, living); len(p.deaths) > 0 {
			t.Fatalf("the last one is to die: %v", p)
		}
	}
	if slices.Contains(seen[:], 0) || len(sizes) != 4 {
		t.Errorf("moments %v, deaths in a turn %v", seen, sizes)
	}
}

// TestAmongGoroutines shrinks from 5 to 1.
func TestAmongGoroutines(t *testing.T) {
	const n = 5
	for seed := range uint64(20) {
		var mu sync.Mutex
		var out strings.Builder
		commtest.Run(t, n, func(ctx context.Context, c *comm.Comm) {
			var mine strings.Builder
			w := newWorker(c, seed, &mine, func() { commtest.Kill(c) })
			if err := w.run(ctx); err != nil {
				if !errors.Is(err, comm.ErrFenced) {
					t.Errorf("seed %d rank %d: %v", seed, c.Rank(), err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out.WriteString(mine.String())
		})
		if bad := new(counts).add(&trial.Result{Stdout: out.String(), Stderr: deathsBut(n, out.String())}, seed, n); bad != "" {
			t.Errorf("seed %d: %s: %s", seed, bad, &out)
		}
	}
}

// deathsBut is the output of the launcher when all die except the rank that printed a line.
func deathsBut(n int, line string) string {
	var left int
	fmt.Sscanf(line, "shrink: rank %d", &left)
	var b strings.Builder
	for r := range n {
		if r != left {
			fmt.Fprintf(&b, `{"event":"death","rank":%d,"cause":"killed (SIGKILL)"}`+"\n", r)
		}
	}
	return b.String()
}

// TestSpecR38R39R40R41FromManyToOne runs some rounds as a user does: every shrunk communicator has
// the members that it must have, in the old order, for any victims and moments.
func TestSpecR38R39R40R41FromManyToOne(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for _, launch := range []string{"", "--agree era"} {
		o, err := parse([]string{"-rounds", fmt.Sprint(rounds), "-seed", "1", "-launch", launch}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code, err := drive(o, &out); code != 0 || err != nil {
			t.Errorf("code %d, %v\n%s", code, err, &out)
		}
		if want := fmt.Sprintf("jobs=%d right=%d deaths=%d ", rounds, rounds, 3*rounds); !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// The checks must detect each kind of violation.
func TestCountsSeeViolations(t *testing.T) {
	const n, seed = 4, 3
	living := upTo(n)
	for turn := 0; len(living) > 1; turn++ {
		living = draw(seed, turn, living).without(living)
	}
	line := func(rank int) string { return fmt.Sprintf("shrink: rank %d is left, turns=2\n", rank) }
	good, other := line(living[0]), line((living[0]+1)%n)
	dead := deathsBut(n, good)
	for _, c := range []struct {
		name   string
		r      trial.Result
		isGood bool
	}{
		{"right", trial.Result{Stdout: good, Stderr: dead}, true},
		{"nothing", trial.Result{Stderr: dead}, false},
		{"another one", trial.Result{Stdout: other, Stderr: deathsBut(n, other)}, false},
		{"two", trial.Result{Stdout: good + good, Stderr: dead}, false},
		{"one is not dead", trial.Result{Stdout: good, Stderr: dead[strings.Index(dead, "\n")+1:]}, false},
		{"the one that is left is dead", trial.Result{Stdout: good, Stderr: deathsBut(n, other)}, false},
		{"one has died twice", trial.Result{Stdout: good, Stderr: dead + dead}, false},
	} {
		if bad := new(counts).add(&c.r, seed, n); (bad == "") != c.isGood {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}

// TestWorkersSeeViolations compares true communicators with plans that differ from them.
func TestWorkersSeeViolations(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, c *comm.Comm) {
		w := newWorker(c, 1, io.Discard, nil)
		if err := w.opening(ctx); err != nil {
			t.Error(err)
		}
		w.living = []int{0, 1}
		if err := w.opening(ctx); !trial.IsBroken(err) {
			t.Errorf("a reduction in which too many took part: %v", err)
		}
		w.living = []int{0, 1, 2}
		if c.Rank() == 2 {
			commtest.Kill(c)
		}
		if err := w.opening(ctx); !trial.IsBroken(err) {
			t.Errorf("a reduction failed, and nobody was to die: %v", err)
		}
		if err := c.Revoke(); err != nil {
			t.Error(err)
		}
		next, err := c.Shrink(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			name   string
			living []int
			agreed []int
			deaths []death
			isGood bool
		}{
			{"before a barrier", upTo(3), []int{2}, []death{{rank: 2, when: atBarrier}}, true},
			{"in the shrink", upTo(3), nil, []death{{rank: 2, when: inShrink}}, true},
			{"in an earlier turn", upTo(2), nil, nil, true},
			{"nobody", upTo(3), nil, nil, false},
			{"too many silent ones", upTo(3), nil, []death{{rank: 2}, {rank: 1, when: afterRevoke}}, false},
			{"one more, who may be there", upTo(3), nil, []death{{rank: 2}, {rank: 1, when: amid}}, true},
			{"who is agreed to be dead", upTo(3), []int{1}, []death{{rank: 2}, {rank: 1, when: amid}}, false},
		} {
			w.living, w.agreed = x.living, x.agreed
			if err := w.check(next, plan{deaths: x.deaths}); (err == nil) != x.isGood || err != nil && !trial.IsBroken(err) {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	})
}
