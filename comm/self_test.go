package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSelf: alone at each rank, in parallel with calls of the others, and also after they have
// died.
func TestSelf(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		other, err := w.Dup(ctx)
		assert.NoError(t, err)
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		for range 3 + w.Rank() {
			c, err := comm.Self(w)
			assert.NoError(t, err)
			assert.Equal(t, "self: rank 0 of 1", c.String())
			assert.Equal(t, []int{w.Rank()}, c.Group().Processes())
			works(ctx, t, c)
			d, err := c.Dup(ctx)
			assert.NoError(t, err)
			assert.NoError(t, d.Free())
			assert.NoError(t, c.Free())
		}
		assert.NoError(t, other.Revoke())
		_, err = comm.Self(other)
		assert.ErrorIs(t, err, ulfm.ErrRevoked)
	})
}

// TestBlock: blocks lie side by side, cover everything, and differ by one at most.
func TestBlock(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 8, 9, 1000, 1 << 62} {
		for _, size := range []int{1, 2, 3, 7, 8} {
			next := 0
			for rank := range size {
				lo, hi := comm.Block(n, size, rank)
				assert.Equal(t, next, lo)
				assert.Contains(t, []int{n / size, (n + size - 1) / size}, hi-lo)
				next = hi
			}
			assert.Equal(t, n, next, "%d of %d", n, size)
		}
	}
	for _, bad := range [][3]int{{-1, 2, 0}, {4, 2, 2}, {4, 2, -1}, {4, 0, 0}, {4, -1, 0}} {
		lo, hi := comm.Block(bad[0], bad[1], bad[2])
		assert.Zero(t, [2]int{lo, hi})
	}
}
