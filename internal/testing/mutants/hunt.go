package mutants

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/testing/sim/cluster"
	"github.com/goulfm/goulfm/internal/testing/sim/nodes"
	"github.com/goulfm/goulfm/internal/testing/sim/repairs"
)

// Finding is the result of a hunt.
type Finding struct {
	Runs      int           // number of runs, the last ones at the same time
	Took      time.Duration // wall time
	Seed      uint64        // of the run that found the bug; of several runs the least
	Invariant string        // the broken invariant; "": none broke
	Text      string        // the description by the run
}

// Found reports whether an invariant broke.
func (f Finding) Found() bool { return f.Invariant != "" }

// failure is the result of a failed run: the broken invariant, and a description.
type failure struct{ invariant, text string }

func (f *failure) Error() string { return f.invariant + ": " + f.text }

// Hunt describes the runs to make.
type Hunt struct {
	Arena   string
	NMax    int           // most processes of a world of whole clusters; 0: 8
	First   uint64        // seed of the first run
	Runs    int           // maximum number of runs; 0: no bound
	Time    time.Duration // maximum wall time; 0: no bound
	Workers int           // runs at the same time
}

// Do makes runs with seeds First, First+1, ... until one fails or a limit is reached.
func (h Hunt) Do() (Finding, error) {
	if arenas[h.Arena] == nil || h.Workers < 1 {
		return Finding{}, fmt.Errorf("%d workers in an arena called %q", h.Workers, h.Arena)
	}
	var (
		started = time.Now()
		next    atomic.Uint64
		over    atomic.Bool
		mutex   sync.Mutex
		found   Finding
		group   sync.WaitGroup
	)
	for range h.Workers {
		group.Go(func() {
			for !over.Load() {
				seed := h.First + next.Add(1) - 1
				fail := h.run(seed)
				mutex.Lock()
				found.Runs++
				if fail != nil && (!found.Found() || seed < found.Seed) {
					found.Seed, found.Invariant, found.Text = seed, fail.invariant, fail.text
				}
				if fail != nil || h.Runs > 0 && found.Runs >= h.Runs || h.Time > 0 && time.Since(started) > h.Time {
					over.Store(true)
				}
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	found.Took = time.Since(started)
	return found, nil
}

// run makes one run.
func (h Hunt) run(seed uint64) (fail *failure) {
	defer func() {
		if p := recover(); p != nil {
			fail = &failure{"assert", fmt.Sprint(p)}
		}
	}()
	return arenas[h.Arena](seed, h)
}

// An arena is a kind of simulated world: one run, made from a seed.
type arena func(seed uint64, h Hunt) *failure

var arenas = map[string]arena{
	"cluster": clusters, "memory": memory, "ring": rings, "wild": wilds,
	"repairs": replaced, "nodes": machines, "detectors": detectors, "islands": islands, "flood": floods, "matching": matching,
}

// clusters is the arena of whole clusters whose processes are notified of deaths and agree by
// messages. Small clusters show most bugs first.
func clusters(seed uint64, h Hunt) *failure {
	return h.simulated(cluster.Options{Seed: seed, Detector: cluster.Exact, Agree: cluster.Era})
}

// memory is the same with agreements in shared memory.
func memory(seed uint64, h Hunt) *failure {
	return h.simulated(cluster.Options{Seed: seed, Agree: cluster.Node})
}

// rings is the arena of whole clusters whose processes find deaths by heartbeats, and pause no
// longer than these tolerate.
func rings(seed uint64, h Hunt) *failure {
	return h.simulated(cluster.Options{Seed: seed, Detector: cluster.Ring})
}

// wilds is the same with pauses and partitions of any length.
func wilds(seed uint64, h Hunt) *failure {
	return h.simulated(cluster.Options{Seed: seed, Detector: cluster.Wild})
}

// replaced is the arena of jobs whose ranks die and are replaced.
func replaced(seed uint64, _ Hunt) *failure {
	_, err := repairs.Run(repairs.Options{Seed: seed})
	if v, broken := errors.AsType[*repairs.Violation](err); broken {
		return &failure{v.Invariant, v.Error()}
	}
	return nil
}

// machines is the arena of jobs on several nodes.
func machines(seed uint64, _ Hunt) *failure {
	_, err := nodes.Run(nodes.Options{Seed: seed})
	if v, broken := errors.AsType[*nodes.Violation](err); broken {
		return &failure{v.Invariant, v.Error()}
	}
	return nil
}

func (h Hunt) simulated(o cluster.Options) *failure {
	o.NMax = cmp.Or(h.NMax, 8)
	_, err := cluster.Run(o)
	if v, broken := errors.AsType[*cluster.Violation](err); broken {
		return &failure{v.Invariant, v.Error()}
	}
	return nil
}
