package comm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestFreeWaitsForWhatIsPending: a sender frees its request and the communicator while its message,
// short or long, is under way. The message arrives unchanged (MPI 7.4.3).
func TestFreeWaitsForWhatIsPending(t *testing.T) {
	for _, n := range []int{1, 3000, 40_000} {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			for round := range 50 {
				d, err := w.Dup(ctx)
				if !assert.NoError(t, err) {
					return
				}
				buf := make([]int, n)
				if w.Rank() == 0 {
					buf[n-1] = round
					r := comm.Isend(d.To(1), buf)
					assert.NoError(t, r.Free())
					assert.NoError(t, d.Free())
					clear(buf) // the buffer is the program's again
					continue
				}
				st, err := comm.Recv(ctx, d.From(0), buf)
				assert.NoError(t, err, "%d elements, round %d", n, round)
				assert.Equal(t, n, st.Count)
				assert.Equal(t, round, buf[n-1])
				assert.NoError(t, d.Free())
			}
		})
	}
}

// TestFreedByTheReceiver: a send to a rank that frees the communicator and receives nothing gets an
// error that names the free by the receiver. Nothing is revoked.
func TestFreedByTheReceiver(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		early, err := w.Dup(ctx)
		assert.NoError(t, err)
		late, err := w.Dup(ctx)
		assert.NoError(t, err)
		if w.Rank() == 1 {
			assert.NoError(t, early.Free())
			assert.NoError(t, comm.Send(ctx, w.To(0), []int{1}))
			_, err = comm.Probe(ctx, late.From(0))
			assert.NoError(t, err)
			assert.NoError(t, late.Free())
			return
		}
		_, err = comm.Recv(ctx, w.From(1), make([]int, 1))
		assert.NoError(t, err)
		for _, d := range []*comm.Comm{early, late} { // the message comes after Free, and before
			err = comm.Ssend(ctx, d.To(1), []int{1})
			assert.ErrorIs(t, err, comm.ErrFreed)
			assert.ErrorContains(t, err, "by the receiver")
			assert.False(t, d.IsRevoked())
			assert.NoError(t, d.Free())
		}
	})
}

// TestFreeEndsReceives: a receive that nothing has matched ends with the communicator.
func TestFreeEndsReceives(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		assert.NoError(t, err)
		r := comm.Irecv(d.From(1-w.Rank()), make([]int, 1))
		assert.NoError(t, d.Free())
		_, err = r.Wait(ctx)
		assert.ErrorIs(t, err, comm.ErrFreed)
	})
}
