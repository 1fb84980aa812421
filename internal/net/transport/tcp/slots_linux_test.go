package tcp

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
)

// TestTheNextProcessOfASlot: 1 has sent something, and dies; 0 closes its lanes, and another
// process takes the slot and listens at the address of 1. All frames between 0 and the next process
// arrive, and no frame that was sent to 1 or by 1.
func TestTheNextProcessOfASlot(t *testing.T) {
	inModes(t, func(t *testing.T, mode socket.Mode) {
		w := newWorld(t, 2, mode)
		again, err := w.listen[1].File() // the daemon's copy
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

// TestAConnectionToTheProcessBefore: 0 dials 1, which is dead, before 0 knows that. The connection
// waits at the listener for the next process of the slot, and that process refuses it.
func TestAConnectionToTheProcessBefore(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	zero := w.Port(0).Link.(*Link)
	require.Equal(t, 5, zero.TryControl(1, []byte("early"), 0)) // no process accepts the connection
	w.node.AppendDeath(1, 0)
	zero.CloseControl(1)
	zero.CloseData(1)
	w.node.Vacate(1)
	next := w.Port(1).Link.(*Link)
	converse(t, zero, next, "0 to the next", "the next to 0")
}

// converse sends a text in each direction, and requires that each end receives the other's text and
// nothing else.
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
