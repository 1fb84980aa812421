package comm_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSendRecvRefusesSharedMemory: an arriving message would change a message that is still being
// sent, so the call fails before any send, for every overlap and all peers.
func TestSendRecvRefusesSharedMemory(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		peer := 1 - w.Rank()
		all := make([]int, 10_000)
		overlaps := map[string][2][]int{
			"the same":       {all, all},
			"one element":    {all[:5001], all[5000:]},
			"in before out":  {all[5000:], all[:5001]},
			"one within":     {all, all[10:20]},
			"the last alone": {all[9999:], all},
		}
		for name, b := range overlaps {
			for _, to := range []int{peer, comm.None} {
				for _, from := range []int{peer, comm.Any, comm.None} {
					_, err := comm.SendRecv(ctx, w.To(to), b[0], w.From(from), b[1])
					assert.ErrorIs(t, err, comm.ErrBuffer, name)
					var e *ulfm.Error
					if assert.ErrorAs(t, err, &e, name) {
						assert.Equal(t, "sendrecv", e.Op)
					}
				}
			}
		}
		bytes, err := comm.Bytes(all[:4])
		assert.NoError(t, err)
		_, err = comm.SendRecv(ctx, w.To(peer), bytes, w.From(peer), all[2:4])
		assert.ErrorIs(t, err, comm.ErrBuffer, "as two types")
		works(ctx, t, w)

		all[0] = w.Rank() + 1 // side by side is apart
		_, err = comm.SendRecv(ctx, w.To(peer), all[:5000], w.From(peer), all[5000:])
		assert.NoError(t, err)
		assert.Equal(t, peer+1, all[5000])
		_, err = comm.SendRecv(ctx, w.To(peer), all[:0], w.From(peer), all[:0])
		assert.NoError(t, err, "nothing shares no memory")
		_, found, err := comm.Iprobe(w.From(comm.Any).Tag(comm.Any))
		assert.NoError(t, err)
		assert.False(t, found, "a refused call has sent something")
	})
}

// TestSendRecvReplace passes vectors of all lengths round a ring: each rank ends with the vector
// that the previous rank had.
func TestSendRecvReplace(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			next, prev := (w.Rank()+1)%n, (w.Rank()+n-1)%n
			for _, length := range lengths {
				buf := make([]int64, length)
				for i := range buf {
					buf[i] = int64(i*n + w.Rank())
				}
				st, err := comm.SendRecvReplace(ctx, w.To(next).Tag(length), w.From(prev).Tag(length), buf)
				assert.NoError(t, err)
				assert.Equal(t, comm.Status{Source: prev, Tag: length, Count: length, Bytes: 8 * length}, st)
				wrong := slices.IndexFunc(buf, func(v int64) bool { return int(v)%n != prev })
				assert.Equal(t, -1, wrong, "%d ranks, length %d", n, length)
			}
		})
	}
}

func TestSendRecvReplaceAtBorders(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		to, from := w.To(1), w.From(comm.None)
		if w.Rank() == 1 {
			to, from = w.To(comm.None), w.From(0)
		}
		buf := []int{w.Rank() + 5}
		_, err := comm.SendRecvReplace(ctx, to, from, buf)
		assert.NoError(t, err)
		assert.Equal(t, []int{5}, buf)

		short := make([]int, 2-w.Rank()) // rank 1 has one element, rank 0 sends two
		_, err = comm.SendRecvReplace(ctx, to, from, short)
		if w.Rank() == 1 {
			assert.ErrorIs(t, err, comm.ErrTruncated)
		} else {
			assert.NoError(t, err)
		}
		_, err = comm.SendRecvReplace(ctx, w.To(7), w.From(0), buf)
		assert.ErrorIs(t, err, comm.ErrRank)
	})
}

// TestSendRecvReplaceAllocatesNothing sends a message to its own rank.
func TestSendRecvReplaceAllocatesNothing(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		buf := []int{1, 2}
		per := testing.AllocsPerRun(500, func() {
			_, err := comm.SendRecvReplace(ctx, w.To(0), w.From(0), buf)
			assert.NoError(t, err)
		})
		assert.Zero(t, per)
	})
}
