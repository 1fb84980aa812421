package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/ulfm"
)

// TestReceiveOutlivesTheSender: a sender dies after it has claimed a unit of a message and before
// it has reported that the unit is copied: a thread of it may still be writing into the buffer. The
// receive ends when no thread is left, not when the death is known (R66). The same holds where the
// receiver detects the death first, because it cannot copy from the dead any more.
func TestReceiveOutlivesTheSender(t *testing.T) {
	for _, refused := range []bool{false, true} {
		world := inproc.New(2)
		receiver, sender := New(world.DirectPort(0), Config{SpinPolls: 20}), New(world.DirectPort(1), Config{SpinPolls: 20})
		const bytes = 64 * segment.UnitBytesMax
		_, err := sender.World().Isend(Envelope{Rank: 0}, make([]byte, bytes))
		require.NoError(t, err)
		h, err := receiver.World().Irecv(Envelope{Rank: 1}, make([]byte, bytes))
		require.NoError(t, err)

		receiver.mu.Lock()
		receiver.progress()
		r := receiver.find(h)
		require.True(t, r.pulling)
		segment.Add64(r.pull.acc.Claims, 1<<32) // the sender claims a unit, and dies
		if refused {
			receiver.transfers.askRings(r)
		}
		receiver.mu.Unlock()

		sender.Kill()
		world.DepartUnended(1, true)
		_, over, err := receiver.Test(h)
		assert.False(t, over, "the receive ends while its buffer may be written: %v", err)
		assert.True(t, receiver.Declared().Has(1))
		world.End(1)
		_, err = receiver.Wait(bg, h)
		assert.ErrorIs(t, err, ulfm.ErrProcFailed)
		sender.Close()
		receiver.Close()
	}
}

// TestReceiveEndsWithTheSender: where the dead sender had claimed nothing more than it copied
// the receive ends when the death is known.
func TestReceiveEndsWithTheSender(t *testing.T) {
	world := inproc.New(2)
	receiver, sender := New(world.DirectPort(0), Config{SpinPolls: 20}), New(world.DirectPort(1), Config{SpinPolls: 20})
	defer receiver.Close()
	defer sender.Close()
	const bytes = 64 * segment.UnitBytesMax
	_, err := sender.World().Isend(Envelope{Rank: 0}, make([]byte, bytes))
	require.NoError(t, err)
	h, err := receiver.World().Irecv(Envelope{Rank: 1}, make([]byte, bytes))
	require.NoError(t, err)
	sender.Kill()
	world.DepartUnended(1, true)
	_, over, err := receiver.Test(h)
	assert.True(t, over)
	assert.ErrorIs(t, err, ulfm.ErrProcFailed)
}
