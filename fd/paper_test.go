package fd

import (
	"math/bits"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// The parameters of the paper: a period of at least 3τ (RR-9024, §3.1.2), a timeout
// above it, and no second check worth mentioning.
const (
	tau   = 10 * ms
	eta   = 3 * tau
	delta = 2*eta + tau
)

func paperConfig() Config {
	return Config{Mode: Ring, Fence: true, Period: eta, Timeout: delta, Confirm: 1, AllowShortTimeouts: true}
}

// paperWorld delivers every message after exactly τ, and every process knows the time.
func paperWorld(seed uint64, n int) *world {
	w := newWorld(seeded(seed), n, tau, paperConfig())
	w.exact, w.eager = true, true
	return w
}

// untilTrue runs until the condition holds, checking after every event, and returns when; it gives
// up at limit.
func (w *world) untilTrue(limit mono.Time, holds func() bool) (mono.Time, bool) {
	for !holds() {
		next, ok := w.agenda.Next()
		if !ok || next > limit || w.problem != nil {
			return w.now, false
		}
		w.runUntil(next)
	}
	return w.now, true
}

// TestReconnectOne is RR-9024, §3.2, proof of Lemma 1, f = 1: "the worst possible
// scenario is when p fails right after sending a heartbeat ... q detects the failure
// after τ+δ time units. Finally, q sends the reconnection message to the predecessor
// of p, which will take τ, hence R(1) <= 2τ+δ". The second check adds its length.
// The worst case is met exactly, and no moment of death is worse.
func TestReconnectOne(t *testing.T) {
	for _, n := range []int{3, 4, 9, 32} {
		worst := mono.Duration(0)
		for part := range 31 { // of a period, after the heartbeat at 10 periods
			w := paperWorld(uint64(part), n)
			w.runUntil(mono.Time(10 * eta).Add(mono.Duration(part) * ms))
			w.kill(1)
			at, ok := w.untilTrue(mono.Time(100*eta), func() bool { return w.disconnected() == nil })
			if !ok {
				t.Fatalf("n = %d: not reconnected: %v, %v", n, w.disconnected(), w.problem)
			}
			worst = max(worst, at.Sub(w.lastDeath))
		}
		if want := 2*tau + delta + 1; worst != want {
			t.Errorf("n = %d: R(1) = %v, want %v", n, worst, want)
		}
	}
}

// TestReconnectMany is RR-9024, §3.2, Lemma 1 and Theorem 1 on random runs with f
// overlapping failures, f <= floor(log n) - 1, most of them of neighbours:
//
//	R(f) <= f(f+1)δ + fτ                      until the ring is reconnected
//	T(f) <= R(f) + f(f+1)/2 · B(n)            until the configuration is stable
//	B(n) = 8τ log n
//
// with the length of the second check, once per failure. The bounds of the paper run
// from the first failure.
func TestReconnectMany(t *testing.T) {
	worstR, worstT := 0.0, 0.0
	for seed := range uint64(2 * *seeds) {
		rng := seeded(seed)
		n := 8 + rng.IntN(57)
		log := bits.Len(uint(n)) - 1
		f := 1 + rng.IntN(log-1)
		w := paperWorld(seed, n)
		w.overlappingDeaths(f)
		w.runUntil(mono.Time(10 * eta))

		ff := mono.Duration(f)
		boundR := ff*(ff+1)*delta + ff*tau + ff
		boundT := boundR + ff*(ff+1)/2*8*tau*mono.Duration(log)
		first := mono.Time(10 * eta)
		allDead := func() bool { return w.crashed.Len() == f }
		r, okR := w.untilTrue(first.Add(boundR), func() bool { return allDead() && w.disconnected() == nil })
		stable, okT := w.untilTrue(first.Add(boundT), func() bool { return w.unstable() == nil })
		if !okR || !okT {
			t.Fatalf("seed %d, n = %d, f = %d: reconnected %v, stable %v: %v", seed, n, f, okR, okT, w.unstable())
		}
		worstR = max(worstR, float64(r.Sub(first))/float64(boundR))
		worstT = max(worstT, float64(stable.Sub(first))/float64(boundT))
	}
	t.Logf("at most %.2f of R(f), %.2f of T(f)", worstR, worstT)
}

// overlappingDeaths plans f deaths from 10 periods on: the first of them then, the
// others within a timeout, so that they overlap.
func (w *world) overlappingDeaths(f int) {
	n, first := len(w.all), w.rng.IntN(len(w.all))
	victims := w.rng.Perm(n)[:f]
	if w.rng.IntN(4) > 0 {
		for i := range victims {
			victims[i] = (first + n - i) % n // each the predecessor of the one before: Figure 2
		}
	}
	w.rng.Shuffle(f, func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	for i, p := range victims {
		at := mono.Time(10 * eta)
		if i > 0 {
			at = at.Add(mono.Duration(w.rng.Int64N(int64(delta))))
		}
		w.plan(at, func() { w.kill(p) })
	}
}

// TestDetections is RR-9024, §3.2, Lemma 2: "at most f-i+1 processes can detect the death of p_i",
// the i-th to die; and Corollary 1: at most f(f+1)/2 broadcasts. A death is detected again if its
// detector dies before it has reported the death, so here some processes do exactly that.
func TestDetections(t *testing.T) {
	most := 0
	for seed := range uint64(*seeds / 2) {
		rng := seeded(seed + 1e6)
		n := 16 + rng.IntN(49)
		w := paperWorld(seed, n)
		w.exact = false
		victim := rng.IntN(n)
		w.plan(mono.Time(10*eta), func() { w.kill(victim) })
		for next := 1; next < bits.Len(uint(n))-2; next++ {
			w.mortal.Add((victim + next) % n)
		}
		w.runUntil(mono.Time(10*eta + 40*delta))
		if err := w.unstable(); err != nil {
			t.Fatalf("seed %d, n = %d, died %v: %v", seed, n, w.deaths, err)
		}
		f, sum := len(w.deaths), 0
		for i, p := range w.deaths {
			if w.detections[p] < 1 || w.detections[p] > f-i {
				t.Errorf("seed %d, n = %d: death %d of %d was detected by %d", seed, n, i+1, f, w.detections[p])
			}
			sum += w.detections[p]
			most = max(most, w.detections[p])
		}
		if sum > f*(f+1)/2 {
			t.Errorf("seed %d, n = %d: %d broadcasts for %d deaths", seed, n, sum, f)
		}
	}
	if most < 2 {
		t.Error("no death was detected twice")
	}
	t.Logf("at most %d detections of one death", most)
}
