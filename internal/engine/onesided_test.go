package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/transport/inproc"
)

// counter is a Server that counts executed frames.
type counter struct {
	watch  *Watch
	frames int
}

func (s *counter) Serve(from int, _ []byte) (waits bool, err error) {
	if s.watch.Admit(from) {
		s.frames++
		s.watch.Dismiss()
	}
	return false, nil
}
func (s *counter) Look() (waits bool)    { return false }
func (s *counter) Died(int) (waits bool) { return false }

// TestFramesOfTheDeadAreDropped: a frame to a window that is still on its way when its sender is
// known to be dead is not executed: a query after the death sees no change any more (W7, W22).
func TestFramesOfTheDeadAreDropped(t *testing.T) {
	sender, receiver, link := pair(t, nil)
	from, to := NewWatch(sender.World(), sender.World(), true), NewWatch(receiver.World(), receiver.World(), true)
	served := counter{watch: to}
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
	receiver.peers.At(0).dead = true // as a declared death does
	link.late.Store(false)
	receiver.drain(0)
	assert.Equal(t, 1, served.frames)
	assert.False(t, receiver.link.Pending(0), "it is not in the ring any more")
}

// TestFramesOfTheDeparted: a frame whose sender is in the list of the dead is not executed, though
// this process has not read the list: another one may have, and reads this one's memory (W7). A
// frame of a sender that has left orderly is executed.
func TestFramesOfTheDeparted(t *testing.T) {
	for died, frames := range map[bool]int{true: 0, false: 1} {
		world := inproc.New(2)
		sender, receiver := New(world.Port(0), Config{SpinPolls: 20}), New(world.Port(1), Config{SpinPolls: 20})
		from, to := NewWatch(sender.World(), sender.World(), true), NewWatch(receiver.World(), receiver.World(), true)
		served := counter{watch: to}
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

// TestDeclaredDropsRequestsAlone: when a death takes effect here, requests that the dead has sent
// are dropped, since others of the node may know of the death; a message that it has sent is
// delivered (R8, W7).
func TestDeclaredDropsRequestsAlone(t *testing.T) {
	world := inproc.New(2)
	sender, receiver := New(world.Port(0), Config{SpinPolls: 20}), New(world.Port(1), Config{SpinPolls: 20})
	defer receiver.Close()
	defer sender.Close()
	from, to := NewWatch(sender.World(), sender.World(), true), NewWatch(receiver.World(), receiver.World(), true)
	served := counter{watch: to}
	to.Serve(&served)
	receiver.mu.Lock()
	require.NoError(t, from.Tell(bg, 1, make([]byte, 40)))
	require.NoError(t, sender.World().Send(bg, Envelope{Rank: 1, Tag: 5}, []byte{7}))
	world.Depart(0, true)
	receiver.progress()
	receiver.mu.Unlock()
	assert.True(t, receiver.Declared().Has(0))
	assert.Zero(t, served.frames)
	got := make([]byte, 1)
	_, err := receiver.World().Recv(bg, Envelope{Rank: 0, Tag: 5}, got)
	assert.NoError(t, err)
	assert.Equal(t, []byte{7}, got)
}
