package sabotage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/sim"
)

// Finding is how a bug was found.
type Finding struct {
	Runs      int           // runs that were made, the last ones at the same time
	Took      time.Duration // wall time
	Seed      uint64        // of the run that showed it; of several the least
	Invariant string        // what broke; empty if nothing did
	Text      string        // what the run says about it
}

// Found says whether anything broke.
func (f Finding) Found() bool { return f.Invariant != "" }

// failure is what one run shows: the broken invariant, and how it broke.
type failure struct{ invariant, text string }

func (f *failure) Error() string { return f.invariant + ": " + f.text }

// Limits bound a hunt.
type Limits struct {
	Runs    int           // 0: no bound
	Time    time.Duration // 0: no bound
	Workers int
}

// Hunt runs the bug's arena with seeds first, first+1, ... until a run fails or a
// limit is reached.
func (b *Bug) Hunt(first uint64, l Limits) Finding {
	var (
		started = time.Now()
		next    atomic.Uint64
		over    atomic.Bool
		mutex   sync.Mutex
		found   Finding
		group   sync.WaitGroup
	)
	for range l.Workers {
		group.Go(func() {
			for !over.Load() {
				seed := first + next.Add(1) - 1
				fail := b.Run(seed)
				mutex.Lock()
				found.Runs++
				if fail != nil && (!found.Found() || seed < found.Seed) {
					found.Seed, found.Invariant, found.Text = seed, fail.invariant, fail.text
				}
				if fail != nil || l.Runs > 0 && found.Runs >= l.Runs || l.Time > 0 && time.Since(started) > l.Time {
					over.Store(true)
				}
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	found.Took = time.Since(started)
	return found
}

// Expected says whether the finding is by an invariant that is there for the rule.
func (b *Bug) Expected(f Finding) bool { return slices.Contains(b.Breaks, f.Invariant) }

// Run carries out one run of the bug's arena. Without the build tag "sabotage" the
// bug is not there.
func (b *Bug) Run(seed uint64) (fail *failure) {
	defer func() {
		if p := recover(); p != nil {
			fail = &failure{"assert", fmt.Sprint(p)}
		}
	}()
	return b.arena(seed, b)
}

// An arena is a kind of simulated world: one run, made from a seed.
type arena func(seed uint64, b *Bug) *failure

// cluster is the arena of whole clusters whose processes are told of deaths. Small
// ones show most bugs soonest.
func cluster(seed uint64, b *Bug) *failure {
	return simulated(sim.Options{Seed: seed, NMax: cmp.Or(b.nmax, 8), Detector: sim.Exact, Flaws: b.Flaws})
}

// rings is the arena of whole clusters whose processes find deaths by heartbeats, and
// do not stop for longer than those bear.
func rings(seed uint64, b *Bug) *failure {
	return simulated(sim.Options{Seed: seed, NMax: 8, Detector: sim.Ring, Flaws: b.Flaws})
}

// wilds is the same with pauses and partitions for any time.
func wilds(seed uint64, b *Bug) *failure {
	return simulated(sim.Options{Seed: seed, NMax: 8, Detector: sim.Wild, Flaws: b.Flaws})
}

func simulated(o sim.Options) *failure {
	_, err := sim.Run(o)
	if v, broken := errors.AsType[*sim.Violation](err); broken {
		return &failure{v.Invariant, v.Error()}
	}
	return nil
}
