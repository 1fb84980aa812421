package tcp

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
)

// TestTheNextProcessOfASlot: 1 has sent something, and dies; 0 has let go of it, and the slot is
// another's, which listens where 1 did. What 0 and the next process send each other arrives, and
// nothing that was meant for 1, or came of it.
func TestTheNextProcessOfASlot(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		w := newWorld(t, 2, mode)
		again, err := w.listen[1].File() // the daemon's
		require.NoError(t, err)
		defer again.Close()
		zero, one := w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)
		converse(t, zero, one, "0 to 1", "1 to 0")

		w.meshes[1].Close()
		w.Depart(1, true)
		zero.CloseControl(1)
		zero.CloseData(1)
		require.Equal(t, 10, zero.TryControl(1, []byte("for nobody"), 0), "what is sent to the dead counts as sent")

		w.node.Vacate(1)
		l, err := net.FileListener(again)
		require.NoError(t, err)
		w.listen[1] = l.(*net.TCPListener)
		next := w.Port(1).Link.(*Link)
		converse(t, zero, next, "0 to the next", "the next to 0")
	})
}

// TestAConnectionToTheProcessBefore: 0 dials 1, which is dead already, and does not know that yet:
// where 1 listened the connection waits for the next process of the slot, which does not take it
// for its own.
func TestAConnectionToTheProcessBefore(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	zero := w.Port(0).Link.(*Link)
	require.Equal(t, 5, zero.TryControl(1, []byte("early"), 0)) // nobody accepts it
	w.node.AppendDeath(1, 0)
	zero.CloseControl(1)
	zero.CloseData(1)
	w.node.Vacate(1)
	next := w.Port(1).Link.(*Link)
	converse(t, zero, next, "0 to the next", "the next to 0")
}

// converse has each of two say something, and hear what the other says and nothing else.
func converse(t *testing.T, zero, one *Link, toOne, toZero string) {
	t.Helper()
	require.Equal(t, len(toOne), zero.TryControl(1, []byte(toOne), 0))
	require.Equal(t, len(toZero), one.TryControl(0, []byte(toZero), 0))
	var heard [2]string
	for range 10_000_000 {
		for me, l := range []*Link{zero, one} {
			for _, from := range l.Take(transport.Control, nil) {
				for frame, ok := l.NextControl(from); ok; frame, ok = l.NextControl(from) {
					heard[me] += string(frame)
				}
				l.Sweep(from)
			}
		}
		if heard[0] != "" && heard[1] != "" {
			break
		}
	}
	require.Equal(t, [2]string{toZero, toOne}, heard)
}
