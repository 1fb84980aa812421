package beat

import (
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// within bounds all waits of tests. It measures nothing.
const within = time.Minute

func open(t *testing.T) *Endpoint {
	n, err := listen("127.0.0.1:0", 7)
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n
}

// road carries datagrams between an observer and an emitter, and counts them.
type road struct {
	conn    *net.UDPConn
	emitter netip.AddrPort

	mu       sync.Mutex
	more     *sync.Cond
	observer netip.AddrPort
	count    [5]int        // of datagrams by kind
	last     [5][]byte     // the latest of each kind
	beat     time.Time     // when the latest beat came
	silence  time.Duration // the longest time without one
	lose     func(kind byte, n int) bool
}

func newRoad(t *testing.T, emitter netip.AddrPort) *road {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	require.NoError(t, err)
	r := &road{conn: conn, emitter: emitter, lose: func(byte, int) bool { return false }}
	r.more = sync.NewCond(&r.mu)
	t.Cleanup(func() { conn.Close() })
	go r.carry()
	return r
}

func (r *road) addr() netip.AddrPort { return r.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

func (r *road) carry() {
	packet := make([]byte, 100)
	for {
		n, from, err := r.conn.ReadFromUDPAddrPort(packet)
		if err != nil {
			return
		}
		r.mu.Lock()
		to := r.emitter
		if from == r.emitter {
			to = r.observer
		} else {
			r.observer = from
		}
		kind := packet[0]
		r.count[kind]++
		r.last[kind] = append([]byte(nil), packet[:n]...)
		if now := time.Now(); kind == beats {
			if r.count[kind] > 1 {
				r.silence = max(r.silence, now.Sub(r.beat))
			}
			r.beat = now
		}
		lost := r.lose(kind, r.count[kind])
		r.more.Broadcast()
		r.mu.Unlock()
		if !lost {
			_, _ = r.conn.WriteToUDPAddrPort(packet[:n], to)
		}
	}
}

// Kinds of datagrams, as in fd/adaptive.
const beats, adjusts = 1, 2

// await waits until n datagrams of a kind have passed, and returns the latest one.
func (r *road) await(t *testing.T, kind, n int) []byte {
	late := false
	timer := time.AfterFunc(within, func() { r.mu.Lock(); late = true; r.more.Broadcast(); r.mu.Unlock() })
	defer timer.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.count[kind] < n && !late {
		r.more.Wait()
	}
	require.GreaterOrEqual(t, r.count[kind], n, "messages of kind %d", kind)
	return r.last[kind]
}

// watched is a monitor in a test.
type watched struct {
	*Monitor
	t      *testing.T
	events chan Event
}

func observe(t *testing.T, n *Endpoint, detection adaptive.Duration) *watched {
	w := &watched{t: t, events: make(chan Event, 100)}
	o, err := n.Monitor(adaptive.QoS{Detection: detection}, func(ev Event) { w.events <- ev })
	require.NoError(t, err)
	w.Monitor = o
	return w
}

// connect introduces the two processes, as a call between them would.
func (w *watched) connect(emitter *Endpoint, addr netip.AddrPort) (*Sender, []byte) {
	number, key := w.NextStream(), []byte("a stream's key")
	e, err := emitter.Accept(number, key, func(sealed []byte) { w.Receive(number, sealed) })
	require.NoError(w.t, err)
	require.NoError(w.t, w.Connected(Connection{Stream: number, Addr: addr, Key: key, Link: e.Receive, RTT: time.Millisecond}))
	return e, key
}

func (w *watched) next() Event {
	select {
	case n := <-w.events:
		return n
	case <-time.After(within):
		require.FailNow(w.t, "no event")
		return Event{}
	}
}

// suspects reads events until a suspicion. A heartbeat may have arrived as a datagram before.
func (w *watched) suspects() {
	for {
		switch n := w.next(); n.Kind {
		case Reached:
		default:
			assert.Equal(w.t, Suspected, n.Kind)
			return
		}
	}
}

// trusts reads all pending events, and fails for a death.
func (w *watched) trusts() {
	w.Stats() // earlier events have been reported
	for len(w.events) > 0 {
		assert.NotEqual(w.t, Dead, w.next().Kind)
	}
}

// dies reads events until a death. Suspicions may begin and end before.
func (w *watched) dies() Event {
	for {
		if n := w.next(); n.Kind == Dead {
			assert.Empty(w.t, w.events)
			return n
		}
	}
}

// long is for tests in which no process may be declared dead because this machine was busy for a
// second or two.
const long = 4 * adaptive.Second

// TestSilenceIsDeath: a process sends heartbeats until its end, and is declared dead then.
func TestSilenceIsDeath(t *testing.T) {
	t.Parallel()
	observer, emitter := open(t), open(t)
	r := newRoad(t, emitter.Addr())
	w := observe(t, observer, long)
	w.connect(emitter, r.addr())
	r.await(t, beats, 5)
	w.trusts()
	emitter.Close()
	gone := time.Now()
	assert.Equal(t, adaptive.BySilence, w.dies().Evidence)
	t.Logf("declared after %v of silence", time.Since(gone))
}

// TestNeverConnected: a process that is never reached is declared dead.
func TestNeverConnected(t *testing.T) {
	w := observe(t, open(t), adaptive.DetectionMin)
	w.suspects()
	assert.Equal(t, adaptive.BySilence, w.dies().Evidence)
}

// TestRefusedIsDeath: a refusal is a death at once.
func TestRefusedIsDeath(t *testing.T) {
	observer, emitter := open(t), open(t)
	w := observe(t, observer, adaptive.Day)
	w.connect(emitter, emitter.Addr())
	w.Broken()
	w.suspects()
	w.Refused()
	assert.Equal(t, adaptive.ByRefusal, w.dies().Evidence)
}

// TestConnectedAgain: a new connection ends the suspicion, and brings heartbeats.
func TestConnectedAgain(t *testing.T) {
	observer, emitter := open(t), open(t)
	r := newRoad(t, emitter.Addr())
	w := observe(t, observer, 30*adaptive.Second)
	e, _ := w.connect(emitter, r.addr())
	r.await(t, beats, 1)
	e.Close()
	w.Broken()
	w.suspects()
	w.connect(emitter, r.addr())
	for w.next().Kind != Trusted { // the first heartbeats may be late
	}
	r.await(t, beats, 2)
	w.trusts()
}

// TestLossIsMeasured: with one datagram of five lost a process is not declared dead, unless it was
// silent itself. The observer measures this loss or more: datagrams that are late, because this
// machine is busy, are left out.
func TestLossIsMeasured(t *testing.T) {
	t.Parallel()
	observer, emitter := open(t), open(t)
	r := newRoad(t, emitter.Addr())
	r.lose = func(kind byte, n int) bool { return n%5 == 0 }
	const detection = 400
	w := observe(t, observer, detection*adaptive.Millisecond)
	w.connect(emitter, r.addr())
	r.await(t, beats, 160)
	f := w.Stats()
	assert.GreaterOrEqual(t, f.Network.Loss, 0.15)
	assert.Less(t, f.Period, 100*time.Millisecond)
	r.mu.Lock()
	silence := r.silence
	r.mu.Unlock()
	if silence < detection*time.Millisecond/4 {
		w.trusts()
	}
}

// TestByTheLink: where no datagram arrives, heartbeats use the connection, and an event reports
// it.
func TestByTheLink(t *testing.T) {
	t.Parallel()
	observer, emitter := open(t), open(t)
	w := observe(t, observer, long)
	number, key := w.NextStream(), []byte("key")
	came := make(chan bool, 1000)
	e, err := emitter.Accept(number, key, func(sealed []byte) { w.Receive(number, sealed); came <- true })
	require.NoError(t, err)
	require.NoError(t, w.Connected(Connection{Stream: number, Key: key, Link: e.Receive}))
	for w.next().Kind != Anomaly {
	}
	for range 5 {
		select {
		case <-came:
		case <-time.After(within):
			require.FailNow(t, "no beat")
		}
	}
	w.trusts()
}

// TestStrangers: datagrams that are repeated, changed, or from another address neither redirect
// the heartbeats nor keep the dead alive.
func TestStrangers(t *testing.T) {
	t.Parallel()
	observer, emitter := open(t), open(t)
	r := newRoad(t, emitter.Addr())
	w := observe(t, observer, long)
	w.connect(emitter, r.addr())
	beat := r.await(t, beats, 3)
	adjust := r.await(t, adjusts, 1)
	stranger := newRoad(t, emitter.Addr())
	send := func(to *Endpoint, packet []byte) {
		_, err := stranger.conn.WriteToUDPAddrPort(packet, to.Addr())
		require.NoError(t, err)
	}
	for i := range adjust {
		changed := append([]byte(nil), adjust...)
		changed[i] ^= 1
		send(emitter, changed)
	}
	send(emitter, adjust)
	send(emitter, []byte("what is this?"))
	send(emitter, nil)
	r.mu.Lock()
	n := r.count[beats]
	r.mu.Unlock()
	r.await(t, beats, n+3)
	stranger.mu.Lock()
	assert.Zero(t, stranger.count[beats], "heartbeats were sent to a stranger")
	stranger.mu.Unlock()
	emitter.Close()
	stop := make(chan bool)
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = stranger.conn.WriteToUDPAddrPort(beat, observer.Addr())
				time.Sleep(time.Millisecond) // the pace of the stranger
			}
		}
	}()
	assert.Equal(t, adaptive.BySilence, w.dies().Evidence)
}

// TestTwoOfOneNumber: monitors that have drawn the same number have their own heartbeats.
func TestTwoOfOneNumber(t *testing.T) {
	t.Parallel()
	emitter := open(t)
	for i := range 2 {
		w := observe(t, open(t), long)
		r := newRoad(t, emitter.Addr())
		number, key := w.NextStream(), []byte{byte(i + 1)}
		e, err := emitter.Accept(number, key, func([]byte) {})
		require.NoError(t, err)
		require.NoError(t, w.Connected(Connection{Stream: number, Addr: r.addr(), Key: key, Link: e.Receive}))
		defer r.await(t, beats, 10)
		defer w.trusts()
	}
}

// TestKeys: a key of a length that is not allowed is refused on both sides.
func TestKeys(t *testing.T) {
	n := open(t)
	w := observe(t, n, long)
	for _, key := range [][]byte{nil, make([]byte, KeyMax+1)} {
		_, err := n.Accept(1, key, nil)
		require.ErrorIs(t, err, ErrKey)
		assert.ErrorContains(t, err, "want 1 to 16")
		require.ErrorIs(t, w.Connected(Connection{Stream: w.NextStream(), Key: key}), ErrKey)
	}
}

// TestWithoutConnection: an introduction is enough for heartbeats, and Close ends them.
func TestWithoutConnection(t *testing.T) {
	observer, emitter := open(t), open(t)
	w := observe(t, observer, long)
	key, stream := NewKey(), w.NextStream()
	_, err := emitter.Accept(stream, key, nil)
	require.NoError(t, err)
	require.NoError(t, w.Connected(Connection{Stream: stream, Addr: emitter.Addr(), Key: key}))
	for w.next().Kind != Reached {
	}
	assert.Positive(t, w.Stats().Period)
	w.Close()
	for end := time.Now().Add(within); emitter.Senders() > 0; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "the sender has not ended")
	}
}

// TestFarewellOverAConnection: a monitor that ends requests the end of the heartbeats while the
// connection lasts, which it closes in order next. The emitter does not go on by datagrams.
func TestFarewellOverAConnection(t *testing.T) {
	observer, emitter := open(t), open(t)
	w := observe(t, observer, long)
	key, stream := NewKey(), w.NextStream()
	e, err := emitter.Accept(stream, key, func([]byte) {})
	require.NoError(t, err)
	require.NoError(t, w.Connected(Connection{Stream: stream, Addr: emitter.Addr(), Key: key}))
	for w.next().Kind != Reached {
	}
	w.Close()
	for end := time.Now().Add(within); emitter.Senders() > 0; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "the sender has not ended")
	}
	e.Detach()
	assert.Zero(t, emitter.Senders())
}

// TestClosed: the methods of a closed endpoint return ErrClosed.
func TestClosed(t *testing.T) {
	n := open(t)
	w := observe(t, n, 0)
	n.Close()
	_, err := n.Monitor(adaptive.QoS{}, func(Event) {})
	require.ErrorIs(t, err, ErrClosed)
	_, err = n.Accept(1, NewKey(), nil)
	require.ErrorIs(t, err, ErrClosed)
	w.Close()
	assert.Zero(t, w.Stats())
	assert.Empty(t, w.events)
}

// FuzzTake: any datagram is handled or dropped. A datagram without a valid tag changes nothing.
func FuzzTake(f *testing.F) {
	key := []byte("key")
	first := (&adaptive.Observer{First: 7}).Next(0)
	for _, m := range []adaptive.Message{
		adaptive.Beat{Stream: first, Period: adaptive.Second}, adaptive.Echo{Stream: first},
		adaptive.Adjust{Stream: first, Period: adaptive.Second}, adaptive.Probe{Stream: first},
	} {
		f.Add(adaptive.Seal(nil, key, m), false)
		f.Add(adaptive.AppendMessage(nil, m), true)
	}
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, packet []byte, seal bool) {
		n := newEndpoint(7)
		o := &Monitor{node: n, notify: func(Event) {}, stream: first, key: [KeyMax]byte([]byte("key" + strings.Repeat("\x00", KeyMax-3))), keyed: true}
		place, _ := n.monitors.put(o)
		o.place = int32(place)
		n.carryOut(n.observer.Step(adaptive.Observe{Peer: place}))
		e := &Sender{node: n, stream: first, key: key, link: func([]byte) {}, adjusted: -1 << 63, probed: -1 << 63}
		e.place, _ = n.senders.put(e)
		n.byStream[first] = []*Sender{e}
		if seal {
			m, err := adaptive.ParseMessage(packet)
			if err != nil {
				return
			}
			packet = adaptive.Seal(nil, key, m)
		}
		before := e.to
		n.take(packet, netip.AddrPort{})
		if _, ok := adaptive.Unseal(key, packet); !ok {
			assert.Equal(t, before, e.to)
			_, beats := n.emitter.Deadline()
			assert.False(t, beats)
		}
	})
}

// TestLapse: heartbeats without a connection end when the monitor is silent for long.
func TestLapse(t *testing.T) {
	n := open(t)
	for stream := range uint32(2) {
		e, err := n.Accept(stream, []byte("key"), func([]byte) {})
		require.NoError(t, err)
		e.Detach()
		if stream == 1 {
			n.ask(func() { e.until, n.sweep = 0, 0 })
		}
	}
	third, err := n.Accept(2, []byte("key"), func([]byte) {})
	require.NoError(t, err)
	third.Detach() // it does not put the sweep off
	for end := time.Now().Add(within); n.Senders() > 2; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "the sender has not ended")
	}
	require.Equal(t, 2, n.Senders(), "the others have time left")
}
