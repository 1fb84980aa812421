package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/transport/inproc"
)

// counter is a Server that counts what comes.
type counter struct{ frames int }

func (s *counter) Serve(int, []byte) (waits bool, err error) { s.frames++; return false, nil }
func (s *counter) Look() (waits bool)                        { return false }
func (s *counter) Died(int) (waits bool)                     { return false }

// TestFramesOfTheDeadAreDropped: a frame to a window that is still on its way when its sender is known to be dead is not
// executed: who asks after the death sees no change any more (W7, W22).
func TestFramesOfTheDeadAreDropped(t *testing.T) {
	sender, receiver, link := pair(t, nil)
	from, to := NewWatch(sender.World(), sender.World(), true), NewWatch(receiver.World(), receiver.World(), true)
	var served counter
	to.Serve(&served)
	require.NoError(t, from.Tell(bg, 1, make([]byte, 40)))
	receiver.mu.Lock()
	receiver.drain(0)
	assert.Equal(t, 1, served.frames)
	receiver.mu.Unlock()
	link.late.Store(true)
	require.NoError(t, from.Tell(bg, 1, make([]byte, 40)))
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	receiver.peers.At(0).dead = true // what a death that is declared sets
	link.late.Store(false)
	receiver.drain(0)
	assert.Equal(t, 1, served.frames)
	assert.False(t, receiver.link.Pending(0), "it is not in the ring any more")
}

// TestFramesOfTheDeparted: a frame whose sender is in the list of the dead is not executed, though this process has not read the
// list: another one may have, and looks at this one's memory (W7). One of a sender that has left well is.
func TestFramesOfTheDeparted(t *testing.T) {
	for died, frames := range map[bool]int{true: 0, false: 1} {
		world := inproc.New(2)
		sender, receiver := New(world.Port(0), Config{SpinPolls: 20}), New(world.Port(1), Config{SpinPolls: 20})
		from, to := NewWatch(sender.World(), sender.World(), true), NewWatch(receiver.World(), receiver.World(), true)
		var served counter
		to.Serve(&served)
		receiver.mu.Lock()
		require.NoError(t, from.Tell(bg, 1, make([]byte, 40)))
		world.Depart(0, died)
		receiver.drain(0)
		assert.Equal(t, frames, served.frames, "died: %v", died)
		receiver.mu.Unlock()
		sender.Close()
		receiver.Close()
	}
}
