//go:build !race

package rma_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/rma"
)

// operations are the calls that a program repeats.
func operations(ctx context.Context, w *rma.Win[int64]) map[string]func() error {
	t, one, many, got := w.At(1), make([]int64, 1), make([]int64, 8192), make([]int64, 8192)
	return map[string]func() error{
		"put 8 B":             func() error { return t.Put(ctx, 0, one) },
		"put 8 B and flush":   func() error { _ = t.Put(ctx, 0, one); return t.Flush(ctx) },
		"put 64 KiB":          func() error { return t.Put(ctx, 0, many) },
		"get 8 B":             func() error { return t.Get(ctx, 0, one) },
		"get 64 KiB":          func() error { return t.Get(ctx, 0, got) },
		"load":                func() error { _, err := t.Load(ctx, 0); return err },
		"store":               func() error { return t.Store(ctx, 0, 1) },
		"fetch and add":       func() error { _, err := t.FetchAndOp(ctx, 0, 1, collectives.Sum); return err },
		"fetch and max":       func() error { _, err := t.FetchAndOp(ctx, 0, 1, collectives.Max); return err },
		"compare and swap":    func() error { _, _, err := t.CompareAndSwap(ctx, 0, 0, 1); return err },
		"accumulate 8 B":      func() error { return t.Accumulate(ctx, 0, one, collectives.Sum) },
		"accumulate 64 KiB":   func() error { return t.Accumulate(ctx, 0, many, collectives.Sum) },
		"notified put 8 B":    func() error { return t.PutNotify(ctx, 0, one, 0) },
		"lock and unlock":     func() error { _ = t.Lock(ctx, rma.LockExclusive); return t.Unlock(ctx) },
		"share and give back": func() error { _ = t.Lock(ctx, rma.LockShared); return t.Unlock(ctx) },
	}
}

// TestNothingIsAllocated by operations.
func TestNothingIsAllocated(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) {
		w := allocate[int64](ctx, t, c, 8192, rma.Notifications(1))
		if c.Rank() == 0 {
			for name, op := range operations(ctx, w) {
				assert.Zero(t, testing.AllocsPerRun(20, func() { assert.NoError(t, op()) }), name)
			}
		}
		assert.NoError(t, w.Fence(ctx))
		assert.NoError(t, w.Free())
	})
}

// BenchmarkOperations between goroutine ranks; operations between processes do not take the lock
// around each.
func BenchmarkOperations(b *testing.B) {
	commtest.Run(b, 2, func(ctx context.Context, c *comm.Comm) {
		w, err := rma.Allocate[int64](ctx, c, 8192, rma.Notifications(1))
		if err != nil {
			b.Error(err)
			return
		}
		if c.Rank() == 0 {
			for name, op := range operations(ctx, w) {
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						_ = op()
					}
				})
			}
		}
		_ = w.Fence(ctx)
		_ = w.Free()
	})
}
