package comm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestSpecC11DisconnectWaitsForAllMembers: a member that has called Disconnect waits for the last
// one, and messages sent before the call arrive.
func TestSpecC11DisconnectWaitsForAllMembers(t *testing.T) {
	bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
		const last = 4 // of groupA or groupB; the others must not return before it calls
		called := comm.Irecv(w.From(last), []int{0})
		long := make([]int64, 1<<17)
		received := comm.Irecv(ic.From(0), long)
		if w.Rank() == last {
			for to := range w.Size() {
				assert.NoError(t, comm.Send(ctx, w.To(to), []int{1}))
			}
		}
		if ic.Rank() == 0 {
			data := make([]int64, 1<<17)
			data[7] = 9
			for to := range ic.RemoteSize() {
				comm.Isend(ic.To(to), data)
			}
		}
		assert.NoError(t, ic.Disconnect(ctx))
		_, done, err := called.Test()
		assert.True(t, done, "rank %d returned before rank %d has called", w.Rank(), last)
		assert.NoError(t, err)
		_, done, err = received.Test()
		assert.True(t, done, "a message that was sent before the call")
		assert.NoError(t, err)
		assert.EqualValues(t, 9, long[7])
		assert.ErrorIs(t, ic.Disconnect(ctx), comm.ErrFreed)
		_, err = ic.Agree(ctx, 1)
		assert.ErrorIs(t, err, comm.ErrFreed)
	})
}

// TestSpecC11DisconnectWaitsForAReceive: a communicator on which a receive is under way is not
// freed, although all members have called.
func TestSpecC11DisconnectWaitsForAReceive(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Dup(ctx)
		assert.NoError(t, err)
		in, received := []int{0}, comm.Request{}
		if w.Rank() == 0 {
			received = comm.Irecv(c.From(1), in)
		}
		done := make(chan error, 1)
		go func() { done <- c.Disconnect(ctx) }()
		until(ctx, t, "the call", func() bool { return len(door.Engine(w).Proc().Waits()) > 0 })
		for range 100 { // both make progress, and would free the communicator
			_, err = comm.SendRecv(ctx, w.To(1-w.Rank()), []int{1}, w.From(1-w.Rank()), []int{0})
			assert.NoError(t, err)
		}
		if w.Rank() == 1 {
			assert.NoError(t, comm.Send(ctx, c.To(0), []int{7}))
		} else {
			_, err = received.Wait(ctx)
			assert.NoError(t, err)
			assert.Equal(t, []int{7}, in)
		}
		assert.NoError(t, <-done)
	})
}

// TestSpecC11DisconnectAfterADeath: all survivors learn that a member died, and the communicator is
// freed all the same; so is a revoked one.
func TestSpecC11DisconnectAfterADeath(t *testing.T) {
	for _, revoke := range []bool{false, true} {
		bridged(t, func(ctx context.Context, w *comm.Comm, ic *comm.Intercomm) {
			_, err := ic.Agree(ctx, 0)
			assert.NoError(t, err)
			killAndWatch(ctx, t, w, groupA[0])
			if revoke {
				assert.NoError(t, ic.Revoke())
			}
			interrupted := comm.Irecv(ic.From(comm.Any), []int{0})
			err = ic.Disconnect(ctx)
			assert.ErrorIs(t, err, comm.ErrProcFailed)
			_, err2 := interrupted.Wait(ctx)
			assert.Error(t, err2)
			assert.ErrorContains(t, err, "disconnect")
			assert.ErrorIs(t, comm.Send(ctx, ic.To(1), []int{1}), comm.ErrFreed)
		})
	}
}

// TestSpecC11DisconnectDeathAtEveryFrame: wherever a member dies, the survivors get the same
// result, and nobody waits for ever.
func TestSpecC11DisconnectDeathAtEveryFrame(t *testing.T) {
	const victim = 4
	for frame := uint64(1); ; frame++ {
		var results ledger[string]
		came := commtest.RunKilled(t, 5, victim, frame, func(ctx context.Context, w *comm.Comm) {
			ic, err := commtest.Intercomm(ctx, w, groupA, groupB)
			if err != nil {
				results.note(w.Rank(), "not made")
				return
			}
			err = ic.Disconnect(ctx)
			if w.Rank() == victim {
				return
			}
			if err != nil {
				assert.ErrorIs(t, err, comm.ErrProcFailed, "frame %d, rank %d", frame, w.Rank())
			}
			assert.ErrorIs(t, ic.Free(), comm.ErrFreed)
			results.note(w.Rank(), fmt.Sprint(err == nil))
		})
		results.uniform(t, same, 0, 1, 2, 3)
		if !came {
			break
		}
	}
}

// TestDisconnectOfACommunicator: a duplicate can be disconnected, the world cannot.
func TestDisconnectOfACommunicator(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		assert.ErrorIs(t, w.Disconnect(ctx), comm.ErrUnsupported)
		c, err := w.Dup(ctx)
		assert.NoError(t, err)
		assert.NoError(t, c.Disconnect(ctx))
		assert.ErrorIs(t, c.Free(), comm.ErrFreed)
		c, err = w.Dup(ctx)
		assert.NoError(t, err)
		assert.ErrorIs(t, c.Disconnect(ended(ctx)), comm.ErrNotBegun)
		assert.NoError(t, c.Disconnect(ctx), "it was not begun")
	})
}

// TestDisconnectGivenUp: the end of the context frees the communicator here, and the members that
// call later complete.
func TestDisconnectGivenUp(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Dup(ctx)
		assert.NoError(t, err)
		if w.Rank() == 1 {
			_, err := comm.Recv(ctx, w.From(0), []int{0})
			assert.NoError(t, err)
			assert.NoError(t, c.Disconnect(ctx))
			return
		}
		err = whileWaiting(ctx, t, w, c.Disconnect)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, c.Free(), comm.ErrFreed)
		assert.NoError(t, comm.Send(ctx, w.To(1), []int{1}))
	})
}

// TestDisconnectBesideAnotherCall: members that make different calls get ErrMismatch, and the
// communicator is there.
func TestDisconnectBesideAnotherCall(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		c, err := w.Dup(ctx)
		assert.NoError(t, err)
		if w.Rank() == 0 {
			err = c.Disconnect(ctx)
		} else {
			_, err = c.Agree(ctx, 1)
		}
		assert.ErrorIs(t, err, comm.ErrMismatch)
		assert.NoError(t, c.Disconnect(ctx))
	})
}

// Two groups disconnect. Afterwards the end of one of them is no failure for the other.
func ExampleIntercomm_Disconnect() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		ic, err := commtest.Intercomm(ctx, w, []int{0}, []int{1})
		if err != nil {
			return
		}
		err = ic.Disconnect(ctx)
		if w.Rank() == 0 {
			fmt.Println(err, ic.Free() != nil)
		}
	})
	// Output:
	// <nil> true
}

// A communicator that is no longer needed is freed at all members together.
func ExampleComm_Disconnect() {
	ranks(4, func(ctx context.Context, w *comm.Comm) {
		half, err := w.Split(ctx, w.Rank()%2, w.Rank())
		if err != nil {
			return
		}
		err = half.Disconnect(ctx)
		if w.Rank() == 0 {
			fmt.Println(err)
		}
	})
	// Output:
	// <nil>
}
