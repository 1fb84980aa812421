package comm_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestReplaceGivesRanks: replacements get the requested ranks, the others keep their order, and all
// have the mode, the epoch and the handover.
func TestReplaceGivesRanks(t *testing.T) {
	for _, messages := range []bool{false, true} {
		for _, dead := range [][]int{{0}, {2}, {0, 3}, {1, 2, 3}} {
			var kills []commtest.Killed
			for _, rank := range dead {
				kills = append(kills, commtest.Killed{Rank: rank, Mark: "begin", At: 1})
			}
			commtest.Job{N: 4, Kills: kills, Messages: messages}.Run(t, func(ctx context.Context, w *comm.Comm) error {
				c := w.Joined()
				if c == nil {
					w.SetUniform(true)
					w.Mark("begin", 1)
					assert.NoError(t, commtest.AwaitFailure(ctx, w, len(dead)))
					left, err := w.Shrink(ctx)
					if err != nil {
						return err
					}
					if c, err = left.Replace(ctx, comm.ReplaceSpec{Ranks: dead, Handover: []byte("told")}); err != nil {
						return err
					}
					assert.Equal(t, w.Rank(), c.Rank())
					assert.NoError(t, left.Free())
				} else {
					assert.Contains(t, dead, c.Rank())
					assert.Equal(t, "told", string(w.Handover()))
					assert.True(t, w.Spawned())
				}
				assert.Equal(t, 4, c.Size())
				assert.Equal(t, "world#2", c.Name(), "at all, however they came there")
				assert.Equal(t, uint64(2), c.Epoch())
				sum, err := collectives.AllreduceOne(ctx, c, c.Rank(), collectives.Sum)
				assert.NoError(t, err)
				assert.Equal(t, 6, sum)
				return dieAgain(ctx, t, c, dead)
			})
		}
	}
}

// dieAgain makes a survivor die, if there are two, and all agree on that: the first member may be a
// replacement, and the agreement uses its memory.
func dieAgain(ctx context.Context, t *testing.T, c *comm.Comm, dead []int) error {
	victim := 3
	for slices.Contains(dead, victim) {
		victim--
	}
	_, err := c.Agree(ctx, 1) // all have their sum
	assert.NoError(t, err)
	if victim == c.Rank() {
		commtest.Kill(c)
	}
	assert.NoError(t, commtest.AwaitFailure(ctx, c, 1))
	assert.True(t, c.IsRevoked(), "it has the mode of what it was made from")
	_, err = c.Agree(ctx, 1)
	assert.ErrorIs(t, err, comm.ErrProcFailed)
	left, err := c.Shrink(ctx)
	assert.NoError(t, err)
	assert.Equal(t, 3, left.Size())
	return nil
}

// TestReplaceRefused: a shortage of processes is an error at all members, wrong ranks are an error
// at each member that passes them, and a communicator with dead members cannot be filled up.
func TestReplaceRefused(t *testing.T) {
	j := commtest.Job{N: 3, Room: 4, Kills: []commtest.Killed{{Rank: 1, Mark: "end", At: 1}}}
	j.Run(t, func(ctx context.Context, w *comm.Comm) error {
		_, err := w.Replace(ctx, comm.ReplaceSpec{Ranks: []int{0, 4}})
		assert.ErrorIs(t, err, comm.ErrNoRoom)
		for _, ranks := range [][]int{nil, {4}, {-1}, {1, 1}} {
			_, err = w.Replace(ctx, comm.ReplaceSpec{Ranks: ranks})
			assert.ErrorIs(t, err, comm.ErrArgument, "%v", ranks)
		}
		_, err = w.Replace(ctx, comm.ReplaceSpec{Ranks: []int{w.Rank()}})
		assert.ErrorIs(t, err, comm.ErrMismatch)
		w.Mark("end", 1)
		assert.NoError(t, commtest.AwaitFailure(ctx, w, 1))
		_, err = w.Replace(ctx, comm.ReplaceSpec{Ranks: []int{1}})
		assert.ErrorIs(t, err, comm.ErrProcFailed)
		return nil
	})
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		_, err := w.Replace(ctx, comm.ReplaceSpec{Ranks: []int{0}})
		assert.ErrorIs(t, err, comm.ErrUnsupported)
		assert.Nil(t, w.Joined())
	})
}
