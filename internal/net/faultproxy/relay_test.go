package faultproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A road is a relay in front of a listener.
type road struct {
	*Relay
	t         *testing.T
	target    net.Listener
	connected int
}

func newRoad(t *testing.T, plan Plan) *road {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r, err := New(l.Addr().String(), plan)
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); l.Close() })
	return &road{Relay: r, t: t, target: l}
}

// connect returns both ends of a connection that the relay knows. The kernel accepts a connection
// for the target earlier, and a command would miss it.
func (r *road) connect() (dialer, target net.Conn) {
	dialer, err := net.Dial("tcp", r.Addr())
	require.NoError(r.t, err)
	target, err = r.target.Accept()
	require.NoError(r.t, err)
	r.connected++
	r.Await(func(s Stats) bool { return s.Made == r.connected })
	for _, c := range []net.Conn{dialer, target} {
		require.NoError(r.t, c.SetDeadline(time.Now().Add(30*time.Second))) // a hang fails
		r.t.Cleanup(func() { c.Close() })
	}
	return dialer, target
}

func (r *road) say(c net.Conn, text string) {
	_, err := io.WriteString(c, text)
	require.NoError(r.t, err)
}

func (r *road) wantNext(c net.Conn, text string) {
	r.t.Helper()
	b := make([]byte, len(text))
	_, err := io.ReadFull(c, b)
	require.NoError(r.t, err)
	assert.Equal(r.t, text, string(b))
}

// wantEnd reads until the end, and checks whether that was a reset.
func (r *road) wantEnd(c net.Conn, text string, reset bool) {
	r.t.Helper()
	b, err := io.ReadAll(c)
	assert.Equal(r.t, text, string(b))
	assert.Equal(r.t, reset, err != nil, "%v", err)
	assert.NotErrorIs(r.t, err, net.ErrClosed)
}

func TestForwardsBothWays(t *testing.T) {
	r := newRoad(t, nil)
	dialer, target := r.connect()
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() { _, _ = dialer.Write(big); _ = dialer.(*net.TCPConn).CloseWrite() }()
	got, err := io.ReadAll(target)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(big, got))
	r.say(target, "and back, after the other direction has ended")
	target.Close()
	r.wantEnd(dialer, "and back, after the other direction has ended", false)
	dialer.Close()
	r.Await(func(s Stats) bool { return s.Open == 0 })
	s := r.Stats()
	assert.Equal(t, [2]int64{1_000_000, 45}, s.Bytes)
	assert.Equal(t, 1, s.Made)
}

// TestFaultsAtTheirByte: the bytes before the place arrive, whatever the sizes of the writes.
func TestFaultsAtTheirByte(t *testing.T) {
	at := func(d Direction, a Act) Plan {
		return First(Script{Faults: []Fault{{Direction: d, At: 5, Act: a}}})
	}
	write := func(c net.Conn) {
		for _, b := range []byte("123456789") {
			_, _ = c.Write([]byte{b}) // the connection may be closed by then
		}
	}
	t.Run("cut", func(t *testing.T) {
		r := newRoad(t, at(ToTarget, Cut))
		dialer, target := r.connect()
		write(dialer)
		r.wantEnd(target, "12345", true)
		assert.Equal(t, 1, r.Stats().Done[Cut])
		_, err := dialer.Read(make([]byte, 1)) // a write may have returned the reset
		assert.Error(t, err)
	})
	t.Run("end", func(t *testing.T) {
		r := newRoad(t, at(ToDialer, End))
		dialer, target := r.connect()
		write(target)
		r.wantEnd(dialer, "12345", false)
		r.wantEnd(target, "", false)
	})
	t.Run("garble", func(t *testing.T) {
		r := newRoad(t, at(ToTarget, Garble))
		dialer, target := r.connect()
		write(dialer)
		dialer.Close()
		r.wantEnd(target, "12345c789", false)
	})
	t.Run("stall", func(t *testing.T) {
		r := newRoad(t, at(ToTarget, Stall))
		dialer, target := r.connect()
		write(dialer)
		r.wantNext(target, "12345")
		r.say(target, "the other way is open")
		r.wantNext(dialer, "the other way is open")
		r.Await(func(s Stats) bool { return s.Waiting[ToTarget] == 1 })
		assert.Equal(t, int64(5), r.Stats().Bytes[ToTarget])
		r.Heal()
		r.wantNext(target, "6789")
	})
	t.Run("swallow", func(t *testing.T) {
		r := newRoad(t, at(ToTarget, Swallow))
		dialer, target := r.connect()
		write(dialer)
		r.wantNext(target, "12345")
		r.say(target, "the other way is open")
		r.wantNext(dialer, "the other way is open")
		r.Await(func(s Stats) bool { return s.Done[Swallow] == 1 })
		r.End()
		r.wantEnd(target, "", false)
	})
	t.Run("half-open", func(t *testing.T) {
		r := newRoad(t, at(ToTarget, HalfOpen))
		dialer, target := r.connect()
		r.say(dialer, "12345")
		r.wantEnd(target, "12345", true)
		for range 100 {
			r.say(dialer, "nobody tells the dialer")
		}
	})
}

func TestCommands(t *testing.T) {
	r := newRoad(t, nil)
	dialer, target := r.connect()
	r.Stall(ToDialer)
	r.say(target, "late")
	r.say(dialer, "at once")
	r.wantNext(target, "at once")
	r.Await(func(s Stats) bool { return s.Waiting[ToDialer] == 1 })
	r.Heal()
	r.wantNext(dialer, "late")

	r.Swallow(ToTarget)
	r.say(dialer, "gone")
	r.End()
	r.wantEnd(target, "", false)
	r.wantEnd(dialer, "", false)

	dialer, target = r.connect()
	r.HalfOpen(ToDialer)
	r.wantEnd(dialer, "", true)
	r.say(target, "nobody tells the target")

	dialer, target = r.connect()
	r.Stall(ToTarget)
	r.say(dialer, "x")
	r.Await(func(s Stats) bool { return s.Waiting[ToTarget] == 1 })
	r.Cut() // also a stalled connection
	r.wantEnd(dialer, "", true)
	r.wantEnd(target, "", true)
	r.Heal()

	r.Refuse(true)
	assert.Error(t, tryRead(r.Addr()))
	r.Refuse(false)
	dialer, target = r.connect()
	r.say(dialer, "again")
	r.wantNext(target, "again")
	assert.Equal(t, 5, r.Stats().Accepted)
	assert.Equal(t, 4, r.Stats().Made)
}

// TestCloseLeavesNothing: also stalled connections, and goroutines in Await.
func TestCloseLeavesNothing(t *testing.T) {
	r := newRoad(t, nil)
	dialer, target := r.connect()
	r.Stall(ToTarget)
	r.say(dialer, "x")
	r.Await(func(s Stats) bool { return s.Waiting[ToTarget] == 1 })
	awaited := make(chan bool)
	go func() { awaited <- r.Await(func(s Stats) bool { return s.Made == 9 }) }()
	r.Close()
	assert.False(t, <-awaited)
	r.wantEnd(target, "", true)
	assert.Zero(t, r.Stats().Open)
}

// tryRead connects and reads to the end: a reset may come before the connection is there.
func tryRead(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.ReadAll(c)
	return err
}

// TestATargetThatIsNotThere: the dialer is reset, and the number of a connection is not used up.
func TestATargetThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	taken, err := net.Dial("tcp", l.Addr().String()) // a port without a listener, which no other process can get either
	require.NoError(t, err)
	defer taken.Close()
	r, err := New(taken.LocalAddr().String(), nil)
	require.NoError(t, err)
	defer r.Close()
	assert.Error(t, tryRead(r.Addr()))
	assert.Zero(t, r.Stats().Made)
}

// TestDelay is in virtual time: each piece comes late by the delay, not by a sum of delays.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, said := time.Now(), 0
		next := late(reader(func() error {
			if said++; said > 3 {
				return io.EOF
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		}), 30*time.Millisecond)
		var times []time.Duration
		for _, err := next(); err == nil; _, err = next() {
			times = append(times, time.Since(start))
		}
		assert.Equal(t, []time.Duration{40 * time.Millisecond, 50 * time.Millisecond, 60 * time.Millisecond}, times)
	})
}

type reader func() error

func (r reader) Read([]byte) (int, error) { return 1, r() }

func TestDelayedConnection(t *testing.T) {
	r := newRoad(t, func(int) Script {
		return Script{Delay: 20 * time.Millisecond, Faults: []Fault{{Direction: ToTarget, At: 4, Act: End}}}
	})
	start := time.Now()
	dialer, target := r.connect()
	r.say(dialer, "late and cut")
	r.wantEnd(target, "late", false)
	assert.GreaterOrEqual(t, time.Since(start), 20*time.Millisecond)
}

// TestPlansAreTheSameEachTime: a plan draws the same faults each time. Faults of one connection
// come in the order of their places.
func TestPlansAreTheSameEachTime(t *testing.T) {
	seen := map[Act]bool{}
	for n := range 200 {
		s := Random(7, 100, 110, Cut, End)(n)
		assert.Equal(t, s, Random(7, 100, 110, Cut, End)(n))
		require.Len(t, s.Faults, 2)
		assert.True(t, s.Faults[0].At >= 100 && s.Faults[0].At <= 110)
		seen[s.Faults[0].Act] = true
	}
	assert.Equal(t, map[Act]bool{Cut: true, End: true}, seen)
	s := Script{Faults: []Fault{{ToTarget, 9, Cut}, {ToDialer, 1, End}, {ToTarget, 3, Garble}}}
	assert.Equal(t, []Fault{{ToTarget, 3, Garble}, {ToTarget, 9, Cut}}, s.of(ToTarget))
	assert.Equal(t, "half-open", HalfOpen.String())
}

// TestRefusesWithTarget: after the target has closed, dialers of the relay are refused, unless
// the network between them is cut.
func TestRefusesWithTarget(t *testing.T) {
	refused := func(r *road) bool {
		conn, err := net.Dial("tcp", r.Addr())
		if err != nil { // or reset, as early as that
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		defer conn.Close()
		r.wantEnd(conn, "", true)
		return false
	}
	r := newRoad(t, nil)
	r.RefuseWithTarget()
	dialer, _ := r.connect()
	require.NoError(t, r.target.Close())
	r.Stall(ToDialer)
	assert.False(t, refused(r))
	assert.False(t, refused(r), "a network that is cut does not refuse")
	r.Heal()
	assert.False(t, refused(r), "this dialer finds the target gone")
	assert.True(t, refused(r))
	r.say(dialer, "what is connected stays")

	r = newRoad(t, nil)
	require.NoError(t, r.target.Close())
	assert.False(t, refused(r))
	assert.False(t, refused(r), "a target may come again")
}
