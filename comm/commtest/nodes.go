package commtest

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/comm"
)

// Nodes assigns a simulated node, by any numbers, to each rank. Messages and agreements work as on
// one node. Collectives between nodes do not use shared memory, SplitNode splits by node, and the
// two-level algorithms use the nodes.
type Nodes []int

// Run is Run with a rank for each entry of n.
func (n Nodes) Run(t testing.TB, body func(ctx context.Context, w *comm.Comm)) {
	t.Helper()
	Config{Nodes: n}.Run(t, len(n), body)
}

// RunKilled is RunKilled with a rank for each entry of n.
func (n Nodes) RunKilled(t testing.TB, victim int, frame uint64, body func(ctx context.Context, w *comm.Comm)) bool {
	t.Helper()
	return Config{Nodes: n}.RunKilled(t, len(n), victim, frame, body)
}
