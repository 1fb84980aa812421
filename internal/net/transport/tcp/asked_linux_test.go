package tcp

import (
	"net"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/net/transport"
)

// newOneWayWorld returns a world of n ranks in which each rank can dial only some of the others. It
// gives the rank an address without a listener for all others. A request to be dialed arrives at
// once.
func newOneWayWorld(t testing.TB, n int, canDial func(from, to int) bool) *world {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	refused := l.Addr().String()
	require.NoError(t, l.Close())
	w := newWorld(t, n, socket.Auth)
	w.configure = func(c *Config) {
		c.Peers = slices.Clone(c.Peers)
		for to := range c.Peers {
			if to != c.Me && !canDial(c.Me, to) {
				c.Peers[to].Addr = refused
			}
		}
		me := c.Me
		c.OnUnmet = func(u Unmet) {
			assert.Equal(t, refused, u.Addr)
			assert.Equal(t, "refused", u.Why)
			if peer := w.meshes[u.Peer]; peer != nil {
				peer.Asked(me, u.Class)
			}
		}
	}
	return w
}

// TestOneWay: a pair works although only one end can dial. The other end requests to be dialed.
func TestOneWay(t *testing.T) {
	for name, canDial := range map[string]func(from, to int) bool{
		"up":   func(from, to int) bool { return from < to },
		"down": func(from, to int) bool { return from > to },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOneWayWorld(t, 2, canDial)
			ends := []*Link{w.Port(0).Link.(*Link), w.Port(1).Link.(*Link)}
			nobody := func(int) bool { return false }
			for me, sender := range ends { // the other end has nothing to send
				require.Equal(t, 5, sender.TryControl(1-me, []byte("hello"), 0))
				taken := 0
				for taken == 0 {
					taken += takeControl(t, ends)
				}
			}
			// A lane that only one end has used, after the other end has parted.
			ends[0].Part()
			h := transport.Header{Kind: transport.Eager}
			require.True(t, ends[1].TrySend(0, &h, nil))
			ends[1].Part()
			for !ends[0].Parted(nobody) || !ends[1].Parted(nobody) {
				takeControl(t, ends)
			}
		})
	}
}

// takeControl takes all frames that have arrived, and returns the number of control frames among
// them.
func takeControl(t *testing.T, ends []*Link) (taken int) {
	for _, l := range ends {
		for c := range transport.Class(2) {
			for _, from := range l.Take(c, nil) {
				for frame, ok := l.NextControl(from); ok; frame, ok = l.NextControl(from) {
					assert.Equal(t, "hello", string(frame))
					taken++
				}
				for _, ok := l.Peek(from); ok; _, ok = l.Peek(from) {
					l.Advance(from)
				}
				l.Sweep(from)
			}
		}
	}
	runtime.Gosched()
	return taken
}

// TestAskedByNobody: a request from outside the job, from this process itself, or for a class that
// does not exist, has no effect.
func TestAskedByNobody(t *testing.T) {
	m, _ := openLanes(t)
	for _, peer := range []int{-1, 0, 2} {
		m.Asked(peer, transport.Data)
	}
	m.Asked(1, 2)
	assert.Empty(t, m.arrivals)
}
