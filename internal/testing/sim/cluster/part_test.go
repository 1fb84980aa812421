package cluster

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// TestNamesAreUIDs: in a whole run the name of each communicator, by which its members draw their
// calls, is its uid, and the ranks are equal, too.
func TestNamesAreUIDs(t *testing.T) {
	made := 0
	for seed := range uint64(150) {
		s := newSimulation(Options{Seed: seed, NMax: 12, Detector: Exact})
		s.run()
		require.Nil(t, s.violation)
		for _, p := range s.procs {
			for _, h := range p.program.handles {
				made++
				assert.Equal(t, h.group.UID, h.name, "seed %d, process %d, %v", seed, p.id, h.group)
				assert.Equal(t, h.group.Procs, h.roll, "seed %d, process %d", seed, p.id)
			}
		}
	}
	require.Greater(t, made, 1000)
}

// TestPartKeepsTheRest: where processes are removed, the others make the same calls as before on
// each communicator that existed before.
func TestPartKeepsTheRest(t *testing.T) {
	compared := 0
	for seed := range uint64(40) {
		o := Options{Seed: seed, N: 8, Detector: Exact}
		w := newSimulation(o).swarm
		w.deaths, w.revokes, w.creations, w.gatherings, w.traffic = 0, 0, 3, 3, 3
		o.like = &w
		whole := newSimulation(o)
		whole.run()
		require.Nil(t, whole.violation)
		c := whole.caseOf().without([]int{2, 5})
		part := newSimulation(Options{Seed: seed, given: &c})
		part.run()
		require.Nil(t, part.violation)
		for i, p := range part.procs {
			before := callsByName(whole.procs[[]int{0, 1, 3, 4, 6, 7}[i]])
			for name, calls := range callsByName(p) {
				if before[name] != nil {
					compared++
					assert.ElementsMatch(t, before[name], calls, "seed %d, process %d, communicator %v", seed, i, name)
				}
			}
		}
	}
	require.Greater(t, compared, 300)
}

// callsByName returns the calls of a process, by the name of the communicator.
func callsByName(p *process) map[commstate.UID][]skip {
	all := map[commstate.UID][]skip{}
	for _, m := range p.called {
		if m.what != opOther {
			all[m.name] = append(all[m.name], m.skip)
		}
	}
	return all
}

// TestSkippedCallsAreNotMade: all others are made.
func TestSkippedCallsAreNotMade(t *testing.T) {
	for seed := range uint64(20) {
		o := Options{Seed: seed, N: 6, Detector: Exact}
		w := newSimulation(o).swarm
		w.deaths, w.revokes, w.creations, w.gatherings = 0, 0, 3, 3
		o.like = &w
		whole := newSimulation(o)
		whole.run()
		require.Nil(t, whole.violation)
		c := whole.caseOf()
		world := commstate.WorldUID(6)
		c.part.skips = []skip{{world, opRepair, 1}, {world, opGather, 0}, {world, opCreate, 0}}
		part := newSimulation(Options{Seed: seed, given: &c})
		part.run()
		require.Nil(t, part.violation)
		for i, p := range part.procs {
			want := callsByName(whole.procs[i])[world]
			want = slices.DeleteFunc(want, func(s skip) bool { return slices.Contains(c.part.skips, s) })
			assert.ElementsMatch(t, want, callsByName(p)[world], "seed %d, process %d", seed, i)
		}
	}
}
