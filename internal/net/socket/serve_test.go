package socket

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served returns the address of a listener of the member born as 3, and the admitted connections.
func served(t *testing.T, tr *Trust) (addr string, admitted chan *Conn) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	admitted = make(chan *Conn, 100)
	ended := make(chan struct{})
	go func() { tr.Serve(l, 3, func(c *Conn) { admitted <- c }); close(ended) }()
	t.Cleanup(func() {
		l.Close()
		<-ended
		for len(admitted) > 0 {
			(<-admitted).Close()
		}
	})
	return l.Addr().String(), admitted
}

// mustMeet requires that a member that dials is admitted.
func mustMeet(t *testing.T, tr *Trust, addr string, admitted chan *Conn) {
	t.Helper()
	c, err := tr.Dial(context.Background(), addr, 3)
	require.NoError(t, err)
	defer c.Close()
	in := <-admitted
	defer in.Close()
	_, err = c.Write([]byte("x"))
	require.NoError(t, err)
	_, err = in.Read(make([]byte, 1))
	require.NoError(t, err)
}

// TestSilentGuestsMakeRoom: a member is admitted although more than guestsMax silent connections
// exist.
func TestSilentGuestsMakeRoom(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		tr := in(t, trust(t, 7, 1), mode)
		addr, admitted := served(t, tr)
		for range 3 * guestsMax {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			defer c.Close()
		}
		mustMeet(t, tr, addr, admitted)
		assert.Empty(t, admitted)
	})
}

// TestGarbageIsNotAdmitted: strangers that send garbage are never admitted, and do not keep a
// member out.
func TestGarbageIsNotAdmitted(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		tr := in(t, trust(t, 7, 1), mode)
		addr, admitted := served(t, tr)
		recorded := tr.preamble(3, []byte{1, 2, 3, 4})
		for i := range 200 {
			c, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			_, _ = c.Write([][]byte{nil, make([]byte, PreambleSize), recorded[:20], append(recorded, randomBytes(100)...)}[i%4])
			c.Close()
			if i%50 == 25 {
				mustMeet(t, tr, addr, admitted)
			}
		}
		mustMeet(t, tr, addr, admitted)
		assert.Empty(t, admitted)
	})
}

// TestHandshakesAtATime: four from one address, sixteen in all. The next handshake waits until one
// ends, or until its deadline.
func TestHandshakesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &door{handshakes: map[netip.Addr]int{}, left: make(chan struct{})}
		from := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }
		for i := range handshakesMax {
			require.True(t, d.begin(from(i/perAddressMax), time.Now()))
		}
		start := time.Now()
		assert.False(t, d.begin(from(9), start.Add(time.Second)), "the seventeenth")
		assert.Equal(t, time.Second, time.Since(start))
		d.end(from(0))
		assert.False(t, d.begin(from(1), time.Now()), "the fifth of an address")
		began := make(chan bool)
		go func() { began <- d.begin(from(1), time.Now().Add(time.Second)) }()
		synctest.Wait()
		d.end(from(1))
		assert.True(t, <-began)
	})
}

// TestManyFailuresArePausedFor: Serve pauses after many failures, not after few, and not if they
// are long ago.
func TestManyFailuresArePausedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &door{}
		rests := func(failures int) time.Duration {
			start := time.Now()
			d.failures += failures
			d.rest()
			return time.Since(start)
		}
		assert.Zero(t, rests(0))
		assert.Zero(t, rests(failuresMax-1))
		assert.Equal(t, pauseFor, rests(1))
		assert.Zero(t, rests(1))
		d.failures = failuresMax
		time.Sleep(2 * time.Second)
		assert.Zero(t, rests(0))
	})
}
