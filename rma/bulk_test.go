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

// TestBulk: long accumulates of all members lose nothing, nor do atomic operations and operations
// of the program that a second goroutine of each member makes; parts begin anywhere in a stripe.
func TestBulk(t *testing.T) {
	const n, elements, each = 4, 3000, 20
	run(t, n, func(ctx context.Context, c *comm.Comm) {
		w, err := rma.Allocate[int32](ctx, c, elements, rma.Bulk())
		assert.NoError(t, err)
		ones := make([]int32, elements)
		for i := range ones {
			ones[i] = 1
		}
		more := collectives.Custom(func(acc, in []int32) { acc[0] += in[0] }, true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range each {
				_, err := w.At(1).FetchAndOp(ctx, 7, 1, collectives.Sum)
				assert.NoError(t, err)
				_, err = w.At(1).FetchAndOp(ctx, 7, 1, more)
				assert.NoError(t, err)
			}
		}()
		for i := range each {
			assert.NoError(t, w.At(1).Accumulate(ctx, i, ones[i:], collectives.Sum))
		}
		<-done
		assert.NoError(t, w.Fence(ctx))
		if c.Rank() == 1 {
			for i, v := range w.Local() {
				want := int32(n * min(i+1, each))
				if i == 7 {
					want += 2 * n * each
				}
				assert.Equal(t, want, v, i)
			}
		}
		assert.NoError(t, w.Fence(ctx))
		was := make([]int32, elements)
		assert.NoError(t, w.At(2).GetAccumulate(ctx, 0, ones, was, collectives.Max))
		assert.NoError(t, w.Free())
	})
}

// TestBulkIsUniform: all give the option, or none.
func TestBulkIsUniform(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, c *comm.Comm) {
		var o []rma.Option
		if c.Rank() == 0 {
			o = append(o, rma.Bulk())
		}
		_, err := rma.Allocate[int](ctx, c, 1, o...)
		assert.ErrorIs(t, err, comm.ErrMismatch)
	})
}
