package commtest

import (
	"context"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
)

// TestNodes: the ranks of a node find each other, and share memory with nobody else.
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

// TestKilledOnNodes: a rank dies before its first frame, and not before one that it never
// moves; the nodes are there both times.
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
