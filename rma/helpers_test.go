package rma_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/rma"
)

// ownMemory is the key of a context in which allocate makes windows of the test's own memory.
type ownMemory struct{}

// inBulk is the key of a context in which allocate gives the option Bulk.
type inBulk struct{}

// own is a number of elements in memory that a test creates windows of.
func own[T any](n int) []T {
	room := make([]uint64, (n+1)*16)
	return byteview.Of[T](byteview.Bytes(room))[:n:n]
}

func yield() { runtime.Gosched() }

// run runs a body on n goroutine ranks for each kind of window: in memory that all share; on two
// nodes, between which ranks send frames; with frames between all ranks; with locks for elements,
// and two of each three ranks on the first of two nodes; and in the test's own memory.
func run(t *testing.T, n int, body func(ctx context.Context, c *comm.Comm)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { commtest.Run(t, n, body) })
	runAway(t, n, body)
}

// runAway is run for the kinds in which some members do not share memory.
func runAway(t *testing.T, n int, body func(ctx context.Context, c *comm.Comm)) {
	t.Helper()
	t.Run("nodes", func(t *testing.T) {
		nodes := slices.Repeat([]int{0, 1}, n)[:n]
		commtest.Nodes(nodes).Run(t, body)
	})
	t.Run("messages", func(t *testing.T) { commtest.Config{Messages: true}.Run(t, n, body) })
	t.Run("bulk", func(t *testing.T) {
		commtest.Nodes(slices.Repeat([]int{0, 0, 1}, n)[:n]).Run(t, func(ctx context.Context, c *comm.Comm) { body(context.WithValue(ctx, inBulk{}, true), c) })
	})
	t.Run("own", func(t *testing.T) {
		commtest.Run(t, n, func(ctx context.Context, c *comm.Comm) { body(context.WithValue(ctx, ownMemory{}, true), c) })
	})
}

// fence makes a fence that all have left before any returns: afterwards a rank can be killed, or
// the window revoked.
func fence[T comm.Elem](ctx context.Context, t *testing.T, w *rma.Win[T]) {
	t.Helper()
	assert.NoError(t, w.Fence(ctx))
	_, _ = w.Comm().Agree(ctx, 1) // the next event may occur before the others return
}

// isShared reports whether a member's memory is shared.
func isShared[T comm.Elem](w *rma.Win[T], rank int) bool {
	_, err := w.Slice(rank)
	return err == nil
}

// salvages checks the readable data of a dead member, or that there are none (W9).
func salvages[T comm.Elem](t *testing.T, w *rma.Win[T], rank, disp int, want ...T) {
	t.Helper()
	got := make([]T, len(want))
	err := w.Salvage(rank, disp, got)
	if !isShared(w, rank) {
		wants(t, err, comm.ErrUnsupported, "salvage", rank)
		return
	}
	assert.NoError(t, err)
	assert.Equal(t, want, got)
}
