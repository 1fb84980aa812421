package fd

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

var seeds = flag.Int("seeds", 50, "random runs per simulation test")

const ms = mono.Millisecond

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// someDeaths plans deaths, single and in groups of neighbours, at random moments up to
// a Timeout after end, and leaves at least one survivor. It returns how many.
func (w *world) someDeaths(most int, end mono.Time) int {
	n := len(w.all)
	count := w.rng.IntN(min(most, n-1) + 1)
	victims := w.rng.Perm(n)[:count]
	if w.rng.IntN(2) == 0 {
		first := w.rng.IntN(n)
		for i := range victims {
			victims[i] = (first + i) % n
		}
	}
	together := mono.Time(w.rng.Int64N(int64(end)))
	spread := w.rng.IntN(3)
	for _, p := range victims {
		at := together
		switch spread {
		case 1:
			at = at.Add(mono.Duration(w.rng.Int64N(int64(w.cfg.Timeout))))
		case 2:
			at = mono.Time(w.rng.Int64N(int64(end)))
		}
		cut := w.rng.IntN(8)
		if p == w.spared {
			count--
			continue
		}
		w.plan(at, func() {
			if cut < 5 {
				w.doomed[p] = cut + 1
			} else {
				w.kill(p)
			}
		})
	}
	return count
}

// killDoomed runs until all deaths that someDeaths planned up to end have happened. Processes that
// never reached the send at which they were to die are ended.
func (w *world) killDoomed(end mono.Time) {
	w.runUntil(end.Add(w.cfg.Timeout))
	for p, sends := range w.doomed {
		if sends > 0 {
			w.kill(p)
		}
	}
}

// TestCompleteAndAccurate is the promise of Config: with delays up to τ and pauses up to L, and all
// kinds and times of deaths, no live process is declared, nor even suspected without stops
// (accuracy); and after the last death all survivors know all the dead, and the ring is closed,
// within the bound (completeness; RR-9024, §2, invariants 1 and 2, and §3.1.3).
func TestCompleteAndAccurate(t *testing.T) {
	deaths, messages, perPeer, worst := 0, 0, 0, 0.0
	for seed := range uint64(*seeds) {
		rng := seeded(seed)
		n := 1 + rng.IntN(64)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(40))*ms, Config{Mode: Ring, Fence: true})
		end := mono.Time(3 * mono.Second)
		f := w.someDeaths(12, end)
		var paused mono.Duration
		if rng.IntN(2) == 0 {
			paused = w.somePauses(end)
		}
		w.calm = paused == 0
		w.killDoomed(end)
		bound := w.cfg.knowledgeBound(f, w.delayMax) + mono.Duration(w.hops()+1)*w.delayMax + paused
		w.settle(bound)
		if err := w.unstable(); err != nil {
			t.Fatalf("seed %d: n = %d, %d deaths, %v after the last one: %v", seed, n, f, bound, err)
		}
		took := w.lastDeclared().Sub(w.lastDeath)
		if took > bound {
			t.Fatalf("seed %d: n = %d, %d deaths, the last was known after %v, bound %v", seed, n, f, took, bound)
		}
		if f > 0 {
			worst = max(worst, float64(took)/float64(bound))
		}
		deaths += f
		messages += w.messages
		perPeer = max(perPeer, w.perPeerMax)
	}
	if perPeer > 4 {
		t.Errorf("%d sends to one process in one step, want at most 4", perPeer)
	}
	t.Logf("%d runs, %d deaths, %d messages; slowest at %.2f of the bound; at most %d sends to one process in one step",
		*seeds, deaths, messages, worst, perPeer)
}

// knowledgeBound is the bound that Config states: the time from the last of f deaths until the last
// of them is declared.
func (c Config) knowledgeBound(f int, delayMax mono.Duration) mono.Duration {
	return delayMax + mono.Duration(f)*(c.Period+2*c.Timeout+c.Confirm)
}

// somePauses stops processes for up to the longest that the accuracy bound admits,
// and returns how much that can delay a detection.
func (w *world) somePauses(end mono.Time) mono.Duration {
	pauseMax := w.cfg.Timeout + w.cfg.Confirm - 2*w.cfg.Period - w.delayMax
	var sum mono.Duration
	for range 1 + w.rng.IntN(10) {
		p, pause := w.rng.IntN(len(w.all)), mono.Duration(w.rng.Int64N(int64(pauseMax)))
		w.plan(mono.Time(w.rng.Int64N(int64(end))), func() { w.stop(p, pause) })
		sum += pause
	}
	return sum
}

// settle runs until bound after the last death.
func (w *world) settle(bound mono.Duration) {
	w.runUntil(max(w.now, w.lastDeath.Add(bound)))
}

// lastDeclared returns when the last survivor learnt of the last death.
func (w *world) lastDeclared() mono.Time {
	var last mono.Time
	for _, p := range w.survivors() {
		for _, at := range w.declared[p] {
			last = max(last, at)
		}
	}
	return last
}

// hops returns the diameter of the graph of survivors along which a death spreads.
func (w *world) hops() int {
	alive := rankset.Of(w.survivors()...)
	gone := rankset.Range(0, len(w.all))
	gone.Subtract(alive)
	farthest := 0
	for source := range alive.All() {
		distance := map[int]int{source: 0}
		for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
			p := queue[0]
			next := append(flood.Neighbors(len(w.all), p),
				dumbEmitter(len(w.all), p, gone), dumbObserver(len(w.all), p, gone))
			for _, q := range next {
				if _, seen := distance[q]; !seen && alive.Has(q) {
					distance[q] = distance[p] + 1
					farthest = max(farthest, distance[q])
					queue = append(queue, q)
				}
			}
		}
	}
	return farthest
}

// TestWatchAndBrokenAreAccurate adds suspicions on demand: live processes are watched
// and their connections reported broken, and none is declared; the dead are, once.
func TestWatchAndBrokenAreAccurate(t *testing.T) {
	for seed := range uint64(*seeds / 2) {
		rng := seeded(seed)
		n := 2 + rng.IntN(30)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(50))*ms, Config{Mode: Ring, Fence: true})
		end := mono.Time(3 * mono.Second)
		f := w.someDeaths(6, end)
		for range 40 {
			p, q := rng.IntN(n), rng.IntN(n)
			var ev Event = Watch{Rank: q}
			if rng.IntN(2) == 0 {
				ev = Broken{Rank: q}
			}
			w.plan(mono.Time(rng.Int64N(int64(end))), func() {
				if p != q {
					w.step(p, ev)
				}
			})
		}
		w.killDoomed(end)
		w.settle(w.cfg.knowledgeBound(f, w.delayMax) + mono.Duration(w.hops()+1)*w.delayMax)
		if err := w.unstable(); err != nil {
			t.Fatalf("seed %d: n = %d, %d deaths: %v", seed, n, f, err)
		}
	}
}

// TestWrongfulDeathsAreFenced stops processes for longer than the detector can know from a death.
// They are declared. When they resume they learn of their declaration and stop, before they declare
// a live process; the others agree on the dead (A2, B20, F6, F7). One process neither stops nor
// dies: b18_partition.txt has the other case.
func TestWrongfulDeathsAreFenced(t *testing.T) {
	fenced := 0
	for seed := range uint64(*seeds) {
		rng := seeded(seed)
		n := 2 + rng.IntN(20)
		w := newWorld(rng, n, mono.Duration(1+rng.IntN(40))*ms, Config{Mode: Ring, Fence: true})
		w.wrongful, w.spared = true, rng.IntN(n)
		end := mono.Time(3 * mono.Second)
		w.someDeaths(3, end)
		var stopped rankset.Set
		for range 1 + rng.IntN(4) {
			p, pause := rng.IntN(n), mono.Duration(1+rng.IntN(8))*mono.Second
			stopped.Add(p)
			w.plan(mono.Time(rng.Int64N(int64(end))), func() { w.stop(p, pause) })
		}
		w.killDoomed(end)
		w.runUntil(mono.Time(40 * mono.Second))
		if err := w.unstable(); err != nil {
			t.Fatalf("seed %d, n = %d: %v", seed, n, err)
		}
		if !w.fenced.SubsetOf(stopped) {
			t.Fatalf("seed %d, n = %d: fenced %v, stopped only %v", seed, n, w.fenced, stopped)
		}
		fenced += w.fenced.Len()
	}
	if fenced == 0 {
		t.Error("nobody was fenced")
	}
	t.Logf("%d processes fenced", fenced)
}

// TestQuietRing counts the messages of a world without deaths: one heartbeat per
// process and period (RR-9024, §2: "with only one observer, a minimal number of
// heartbeat messages have to be sent"), and nothing else.
func TestQuietRing(t *testing.T) {
	for _, n := range []int{1, 2, 3, 64} {
		w := newWorld(seeded(uint64(n)), n, 30*ms, Config{Mode: Ring, Fence: true})
		w.runUntil(mono.Time(10*mono.Second - 1))
		want := 100 * n
		if n == 1 {
			want = 0
		}
		if w.messages != want || w.problem != nil {
			t.Errorf("n = %d: %d messages, want %d; %v", n, w.messages, want, w.problem)
		}
	}
}

// TestSameSeedSameRun plays a run twice.
func TestSameSeedSameRun(t *testing.T) {
	play := func() (int, int) {
		w := newWorld(seeded(5), 40, 30*ms, Config{Mode: Ring, Fence: true})
		w.someDeaths(12, mono.Time(mono.Second))
		w.runUntil(mono.Time(8 * mono.Second))
		return w.messages, len(w.deaths)
	}
	m1, d1 := play()
	if m2, d2 := play(); m1 != m2 || d1 != d2 || d1 == 0 {
		t.Errorf("%d messages and %d deaths, then %d and %d", m1, d1, m2, d2)
	}
}
