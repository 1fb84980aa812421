package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/socket"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// TestPartBeforeTheFirstFrame: one rank parts before its peer sends its first frame. The frame is
// taken and acknowledged, and both ranks complete their goodbyes.
func TestPartBeforeTheFirstFrame(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	a, b := w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)
	a.Part()
	nobody := func(int) bool { return false }
	require.True(t, a.Parted(nobody), "nothing was said")
	require.Equal(t, 8, a.TryControl(1, []byte("too late"), 0), "nothing is sent any more, and nobody waits for that")

	require.Equal(t, 5, b.TryControl(0, []byte("hello"), 0))
	b.Part()
	taken := false
	for !taken || !a.Parted(nobody) || !b.Parted(nobody) {
		for _, l := range []*Link{a, b} {
			for c := range transport.Class(2) {
				for _, from := range l.Take(c, nil) {
					if frame, ok := l.NextControl(from); ok {
						require.Equal(t, "hello", string(frame))
						taken = true
					}
					l.Sweep(from)
				}
			}
		}
	}
}

// TestPartWhileThePeerSends: one rank parts. Its peer, which has a frame without acknowledgement,
// sends a further frame after it has received the bye and before it can answer.
func TestPartWhileThePeerSends(t *testing.T) {
	w := newWorld(t, 2, socket.Auth)
	a, b := w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)
	nobody := func(int) bool { return false }
	var taken []string
	look := func(l *Link) {
		for c := range transport.Class(2) {
			for _, from := range l.Take(c, nil) {
				for frame, ok := l.NextControl(from); ok; frame, ok = l.NextControl(from) {
					taken = append(taken, string(frame))
				}
				l.Sweep(from)
			}
		}
	}
	until := func(what string, done func() bool, links ...*Link) {
		for range 1_000_000 {
			if done() {
				return
			}
			for _, l := range links {
				look(l)
			}
		}
		require.Fail(t, "it does not come to that", what)
	}
	lane := func() *lane { return b.mesh.lanes[transport.Control][0] }

	require.Equal(t, 5, b.TryControl(0, []byte("hello"), 0))
	until("hello is taken", func() bool { return len(taken) == 1 }, a, b)
	require.Equal(t, 2, b.TryControl(0, []byte("2."), 0))
	a.Part()
	until("the bye is heard", func() bool { return lane().s.Owes() }, b)
	until("taken", func() bool { return len(taken) == 2 }, a)
	require.Equal(t, 4, b.TryControl(0, []byte("more"), 0))
	until("parted", func() bool { return a.Parted(nobody) }, a, b)
	require.Equal(t, []string{"hello", "2.", "more"}, taken)
}
