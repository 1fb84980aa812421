package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestRanksAndProcesses: on a communicator in another order than the world, errors and FailedRanks
// name ranks, groups name processes, and each can be converted to the other.
func TestRanksAndProcesses(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		color := 0
		if w.Rank() == 0 {
			color = comm.Undefined
		}
		c, err := w.Split(ctx, color, -w.Rank()) // processes 3, 2, 1
		assert.NoError(t, err)
		if c == nil {
			return
		}
		assert.Equal(t, []int{3, 2, 1}, c.Group().Processes())
		assert.Equal(t, "[3 2 1]", c.Group().String())
		assert.Equal(t, []int{comm.Undefined, 2, 1, 0}, c.RanksOf(w.Group()))
		assert.Equal(t, []int{}, c.RanksOf(comm.Group{}))
		for process, rank := range map[int]int{-1: comm.Undefined, 0: comm.Undefined, 1: 2, 2: 1, 3: 0, 4: comm.Undefined, 1 << 40: comm.Undefined} {
			assert.Equal(t, rank, c.RankOf(process), "process %d", process)
		}
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		ok(t, "deaths", commtest.AwaitFailure(ctx, c, 1))
		assert.Equal(t, []int{1}, c.GetFailed().Processes())
		assert.Equal(t, []int{2}, c.FailedRanks())
		assert.Equal(t, c.FailedRanks(), c.RanksOf(c.GetFailed()))
		_, err = comm.Recv(ctx, c.From(2), []int{0})
		var e *ulfm.Error
		if assert.ErrorAs(t, err, &e) {
			assert.Equal(t, c.FailedRanks(), e.Ranks)
		}
	})
}
