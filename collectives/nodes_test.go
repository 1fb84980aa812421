package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// nodeMaps are ranks on several nodes: two of four, three uneven ones, round robin,
// uneven anywhere, each on its own.
var nodeMaps = []commtest.Nodes{
	{0, 0, 0, 0, 1, 1, 1, 1},
	{3, 3, 3, 3, 1, 2, 2},
	{0, -1, 5, 0, -1, 5, 0},
	{2, 2, 0, 1, 2, 0, 2, 2, 0, 2},
	{4, 3, 2, 1, 0},
}

// TestEverythingOnSeveralNodes: every collective with the choice of the shipped table, and each
// two-level algorithm, whole and in segments.
func TestEverythingOnSeveralNodes(t *testing.T) {
	s, k := newSweep(t), wordElements()
	for _, nodes := range nodeMaps {
		s.on(onNodes(nodes), ordinaryAndOrdered(k, len(nodes), lengthsOf(len(nodes), 0, 1000)))
	}
	s.done("several nodes")
}

// TestBarrierOnSeveralNodes: nobody leaves one that somebody has not come to.
func TestBarrierOnSeveralNodes(t *testing.T) {
	for _, nodes := range nodeMaps {
		var came [20]atomic.Int32
		nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
			for round := range came {
				came[round].Add(1)
				err := collectives.Barrier(ctx, w)
				if round%2 == 1 {
					err = ended(ctx, collectives.Ibarrier(w))
				}
				if n := came[round].Load(); err != nil || n != int32(w.Size()) {
					t.Errorf("nodes %v, round %d: rank %d left with %d of %d there: %v", nodes, round, w.Rank(), n, w.Size(), err)
				}
			}
		})
	}
}

// TestCommunicatorsWithOtherNodes: where the members are is each communicator's own, and
// those of one node share its memory.
func TestCommunicatorsWithOtherNodes(t *testing.T) {
	nodes := commtest.Nodes{0, 0, 0, 1, 2, 2}
	nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
		turned, err := w.Split(ctx, 0, -w.Rank())
		if err != nil {
			t.Error(err)
			return
		}
		node, err := w.SplitNode(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if got, want := door.Engine(turned).Nodes(), []int{2, 2, 1, 0, 0, 0}; !slices.Equal(got, want) || door.Engine(turned).PerNode() != 3 {
			t.Errorf("nodes %v with up to %d ranks, want %v", got, door.Engine(turned).PerNode(), want)
		}
		if got := []bool{door.Engine(w).Shared(), door.Engine(turned).Shared(), door.Engine(node).Shared()}; !slices.Equal(got, []bool{false, false, true}) {
			t.Errorf("world, turned and node share memory: %v", got)
		}
		for range 5 { // plans are kept from one call to the next
			for _, c := range []*comm.Comm{w, turned, node} {
				works(ctx, t, c, "with other nodes")
				v := []int{c.Rank()}
				if err := collectives.Allreduce(ctx, c, v, v, collectives.Sum); err != nil || v[0] != c.Size()*(c.Size()-1)/2 {
					t.Errorf("the sum of %d ranks is %d, %v", c.Size(), v[0], err)
				}
			}
		}
	})
}

// TestWrongArgumentOnSeveralNodes: a rank that waits for a leader that waits for the offender also
// gets an error.
func TestWrongArgumentOnSeveralNodes(t *testing.T) {
	nodes := commtest.Nodes{0, 0, 1, 1, 1}
	nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
		for offender := range nodes {
			for _, c := range wrongs(len(nodes)) {
				at := fmt.Sprintf("%s on nodes %v, wrong at rank %d", c.name, nodes, offender)
				v := right(c.name)
				if w.Rank() == offender {
					v.call = c.call
				}
				switch err := v.call(ctx, w, short); {
				case w.Rank() == offender && !errors.Is(err, c.want), err == nil && v.synchronizes,
					w.Rank() != offender && err != nil && !errors.Is(err, comm.ErrPeerArgument):
					t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
				}
				works(ctx, t, w, "after "+at)
			}
		}
	})
}

// twoLevel are the verbs whose two-level algorithms the shipped table takes.
var twoLevel = []string{"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather"}

// TestSpecR54KilledInsideOnSeveralNodes kills each rank in turn, leaders included, before frames
// that the rank sends or takes: before every frame in an allreduce.
func TestSpecR54KilledInsideOnSeveralNodes(t *testing.T) {
	nodes := commtest.Nodes{0, 1, 0, 1, 1}
	for _, name := range twoLevel {
		stride := uint64(3)
		if name == "allreduce" || *longRun {
			stride = 1
		}
		for victim := range nodes {
			died := 0
			for frame := uint64(1); !t.Failed(); frame += stride {
				at := fmt.Sprintf("%s on nodes %v, rank %d killed before frame %d", name, nodes, victim, frame)
				came := nodes.RunKilled(t, victim, frame, func(ctx context.Context, w *comm.Comm) {
					survived(ctx, t, w, at, victim, right(name).call(ctx, w, short))
				})
				if !came {
					break
				}
				died++
			}
			if died == 0 {
				t.Errorf("%s: rank %d moved no frame", name, victim)
			}
		}
	}
}

// TestSpecR54KilledBeforeOnSeveralNodes: the same as on one.
func TestSpecR54KilledBeforeOnSeveralNodes(t *testing.T) {
	nodes := commtest.Nodes{0, 1, 0, 1, 1}
	for _, name := range twoLevel {
		for victim := range nodes {
			at := fmt.Sprintf("%s on nodes %v, rank %d killed before", name, nodes, victim)
			nodes.Run(t, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == victim {
					commtest.Kill(w)
				}
				err := right(name).call(ctx, w, big)
				if err == nil && right(name).synchronizes || err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
					t.Errorf("%s: rank %d: %v", at, w.Rank(), err)
				}
				afterwards(ctx, t, w, at, victim)
			})
		}
	}
}
