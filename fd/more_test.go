package fd

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// TestSideBySide is the bound of Config for f neighbours that die at one moment (B9):
// it grows with log2 f, where RR-9024 (§3.2, Lemma 1) has f(f+1).
func TestSideBySide(t *testing.T) {
	worst := 0.0
	for seed := range uint64(*seeds) {
		rng := seeded(seed + 2e6)
		f := 1 + rng.IntN(48)
		n := f + 2 + rng.IntN(16)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(40))*ms, Config{Mode: Ring, Fence: true})
		w.calm = true
		first, at := rng.IntN(n), mono.Time(rng.Int64N(int64(2*mono.Second)))+mono.Time(mono.Second)
		w.plan(at, func() {
			for i := range f {
				w.kill((first + i) % n)
			}
		})
		w.runUntil(at)
		bound := w.delayMax + mono.Duration(1+bits.Len(uint(f-1)))*(w.cfg.Period+w.cfg.Timeout) +
			w.cfg.Confirm + mono.Duration(w.hops())*w.delayMax
		w.settle(bound)
		if err := w.unstable(); err != nil {
			t.Fatalf("seed %d: n = %d, f = %d, %v after: %v", seed, n, f, bound, err)
		}
		worst = max(worst, float64(w.lastDeclared().Sub(w.lastDeath))/float64(bound))
	}
	t.Logf("at most %.2f of the bound", worst)
}

// TestProbesOfARun counts the cost of B9: for f dead side by side, one second check each and fewer
// than 4f processes watched; for a single death, two probes.
func TestProbesOfARun(t *testing.T) {
	for _, f := range []int{1, 2, 3, 7, 20, 62} {
		const n = 64
		d := New(Config{N: n, Me: n - 1, Mode: Ring, Fence: true})
		probes, now, dead := 0, mono.Time(0), 0
		for dead < f {
			now, _ = d.Deadline()
			for _, a := range d.Step(Tick{Now: now}) {
				switch a := a.(type) {
				case Send:
					if a.Msg[0] == kindProbe {
						probes++
					}
				case Declare:
					dead++
				}
			}
			for alive := range n - 1 - f { // they answer every message
				d.Step(Receive{From: alive, Msg: digestMessage(kindHeartbeat, d.Digest())})
			}
		}
		if most := max(2, 5*f-1); f == 1 && probes != 2 || probes > most {
			t.Errorf("%d probes for %d deaths side by side, want at most %d", probes, f, most)
		}
	}
}

// TestAllEqual turns the ring (B15): the death of process v has the same course for every v, 0
// included, but for the rotation.
func TestAllEqual(t *testing.T) {
	const n = 13
	var want string
	for v := range n {
		w := newWorld(seeded(1), n, 10*ms, Config{Mode: Ring, Fence: true})
		w.exact, w.eager = true, true
		w.plan(mono.Time(1234*ms), func() { w.kill(v) })
		w.runUntil(mono.Time(3 * mono.Second))
		var got string
		for turn := 1; turn < n; turn++ {
			p := (v + turn) % n
			d := w.all[p]
			got += fmt.Sprintln(turn, w.declared[p][v], (d.Emitter()+n-v)%n, (d.Observer()+n-v)%n)
		}
		if want == "" {
			want = got
		}
		if got != want || w.problem != nil {
			t.Errorf("death of %d: %v\n%s, want\n%s", v, w.problem, got, want)
		}
	}
}

// TestMajority cuts worlds in two while processes die (B18): no two processes that consider each
// other dead both continue, and a side that can know to be the greater one does continue.
func TestMajority(t *testing.T) {
	stopped, wentOn := 0, 0
	for seed := range uint64(*seeds) {
		rng := seeded(seed + 3e6)
		n := 2 + rng.IntN(30)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(40))*ms, Config{Mode: Ring, Fence: true, Partition: Majority})
		w.wrongful = true
		var side rankset.Set
		for _, p := range rng.Perm(n)[:1+rng.IntN(n-1)] {
			side.Add(p)
		}
		dying := rng.IntN(3) == 0
		if dying {
			w.someDeaths(n/4, mono.Time(3*mono.Second))
		}
		w.plan(mono.Time(rng.Int64N(int64(3*mono.Second))), func() { w.cut = side })
		w.runUntil(mono.Time(60 * mono.Second))
		if w.problem != nil {
			t.Fatalf("seed %d: %v", seed, w.problem)
		}
		living := rankset.Of(w.survivors()...)
		for p := range living.All() {
			for q := range living.All() {
				if w.all[p].dead.Has(q) && w.all[q].dead.Has(p) {
					t.Fatalf("seed %d, n = %d: %d and %d go on without each other; cut %v", seed, n, p, q, side)
				}
			}
		}
		winner := side
		if 2*side.Len() < n || 2*side.Len() == n && !side.Has(0) {
			winner = rankset.Range(0, n)
			winner.Subtract(side)
		}
		if !dying && !living.Equal(winner) {
			t.Fatalf("seed %d, n = %d: cut %v, %v go on, want %v", seed, n, side, living, winner)
		}
		stopped += w.fenced.Len()
		wentOn += living.Len()
	}
	if stopped == 0 || wentOn == 0 {
		t.Errorf("%d stopped, %d went on", stopped, wentOn)
	}
	t.Logf("%d stopped in a minority, %d went on", stopped, wentOn)
}

// TestLeavers lets processes leave while others die (B16): no process declares a left one, and
// every survivor knows all left processes.
func TestLeavers(t *testing.T) {
	leavers := 0
	for seed := range uint64(*seeds) {
		rng := seeded(seed + 4e6)
		n := 2 + rng.IntN(40)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(40))*ms, Config{Mode: Ring, Fence: true})
		var gone rankset.Set
		for _, p := range rng.Perm(n)[:rng.IntN(n)] {
			gone.Add(p)
			w.plan(mono.Time(rng.Int64N(int64(3*mono.Second))), func() { w.step(p, Left{Rank: p}) })
		}
		victim := rng.IntN(n)
		if !gone.Has(victim) {
			w.plan(mono.Time(mono.Second), func() { w.kill(victim) })
		}
		w.runUntil(mono.Time(20 * mono.Second))
		if w.problem != nil {
			t.Fatalf("seed %d, n = %d: %v", seed, n, w.problem)
		}
		for _, p := range w.survivors() {
			if !gone.Has(p) && !w.all[p].left.Equal(gone) {
				t.Fatalf("seed %d, n = %d: %d knows that %v left, %v did", seed, n, p, w.all[p].left, gone)
			}
			if dead := w.all[p].dead; !dead.SubsetOf(w.crashed) {
				t.Fatalf("seed %d: %d holds %v for dead, dead are %v", seed, p, dead, w.crashed)
			}
		}
		leavers += gone.Len()
	}
	t.Logf("%d processes left", leavers)
}
