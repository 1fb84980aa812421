package commtest

import (
	"context"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
)

// TestNodes: SplitNode unites the ranks of a node, and memory is shared only within a node.
func TestNodes(t *testing.T) {
	Nodes{7, 0, 7}.Run(t, func(ctx context.Context, w *comm.Comm) {
		node, err := w.SplitNode(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		want := [][]int{{0, 2}, {1}, {0, 2}}[w.Rank()]
		if got := node.Group().Processes(); !slices.Equal(got, want) {
			t.Errorf("rank %d is on a node with %v, want %v", w.Rank(), got, want)
		}
		if door.Engine(w).Shared() || !door.Engine(node).Shared() {
			t.Errorf("rank %d: the world shares memory: %v, its node: %v", w.Rank(), door.Engine(w).Shared(), door.Engine(node).Shared())
		}
	})
}

// TestKilledOnNodes: a rank dies before its first frame, and survives if the frame of its death is
// never reached; the nodes are set both times.
func TestKilledOnNodes(t *testing.T) {
	for frame, dies := range map[uint64]bool{1: true, 1 << 40: false} {
		came := Nodes{0, 1}.RunKilled(t, 1, frame, func(_ context.Context, w *comm.Comm) {
			if got := door.Engine(w).Nodes(); !slices.Equal(got, []int{0, 1}) {
				t.Errorf("nodes %v", got)
			}
		})
		if came != dies {
			t.Errorf("before frame %d: died: %v", frame, came)
		}
	}
}
