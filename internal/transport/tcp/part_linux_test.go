package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/socket"

	"github.com/goulfm/goulfm/internal/transport"
)

// TestPartBeforeTheFirstFrame: one takes leave, and another one has its first frame for it. It is
// taken and acknowledged, and both part.
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
