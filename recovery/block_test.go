package recovery_test

import (
	"context"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/ckpt/relayout"
	"github.com/goulfm/goulfm/recovery"
	"github.com/stretchr/testify/assert"
)

// TestOneFormulaForBlocks: World.Block, comm.Block and the moves of rows to fewer ranks divide rows
// alike.
func TestOneFormulaForBlocks(t *testing.T) {
	type span [2]int
	of := func(lo, hi int) span { return span{lo, hi} }
	job(7, 0, 0, recovery.Config{}, func(_ context.Context, w *recovery.World) error {
		for _, total := range []int{0, 3, 7, 64, 1000} {
			assert.Equal(t, of(comm.Block(total, 7, w.Rank())), of(w.Block(total)), "%d things", total)
			assert.Equal(t, of(w.Block(total)), of(w.BlockOf(total, w.Rank())))
			assert.Equal(t, of(relayout.Block(total, 7, w.Rank())), of(w.Block(total)))
			next := 0
			for rank := range 7 {
				lo, hi := w.BlockOf(total, rank)
				assert.Equal(t, next, lo)
				next = hi
			}
			assert.Equal(t, total, next)
		}
		return nil
	})
}
