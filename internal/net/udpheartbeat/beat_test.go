package udpheartbeat

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

// within bounds what a test waits for: it is never the measure of anything.
const within = time.Minute

func listen(t *testing.T) *Node {
	n, err := Listen("127.0.0.1:0", 7)
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n
}

// road carries datagrams between an observer and an emitter, and tells what it has seen.
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

// await waits until so many of a kind have passed, and returns the latest one.
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

// watched is an observation in a test.
type watched struct {
	*Observation
	t    *testing.T
	news chan News
}

func observe(t *testing.T, n *Node, detection adaptive.Duration) *watched {
	w := &watched{t: t, news: make(chan News, 100)}
	o, err := n.Observe(adaptive.QoS{Detection: detection}, func(news News) { w.news <- news })
	require.NoError(t, err)
	w.Observation = o
	return w
}

// connect does what a call between two processes would.
func (w *watched) connect(emitter *Node, addr netip.AddrPort) (*Emission, []byte) {
	number, key := w.Next(), []byte("a stream's key")
	e, err := emitter.Emit(number, key, func(sealed []byte) { w.Hear(number, sealed) })
	require.NoError(w.t, err)
	w.Connected(Connection{Stream: number, Addr: addr, Key: key, Link: e.Hear, RTT: time.Millisecond})
	return e, key
}

func (w *watched) next() News {
	select {
	case n := <-w.news:
		return n
	case <-time.After(within):
		require.FailNow(w.t, "no news")
		return News{}
	}
}

// suspects takes news until there is a suspicion. A beat may have come as a datagram before.
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

// trusts takes news until there are none, and fails if the last suspicion has not ended.
func (w *watched) trusts() {
	w.Figures() // what happened before has been told
	for len(w.news) > 0 {
		assert.NotEqual(w.t, Dead, w.next().Kind)
	}
}

// dies takes the news of a death; suspicions may come and go before.
func (w *watched) dies() News {
	for {
		if n := w.next(); n.Kind == Dead {
			assert.Empty(w.t, w.news)
			return n
		}
	}
}

// long is for tests in which nobody is to be declared dead because this machine was busy for a
// second or two.
const long = 4 * adaptive.Second

// TestSilenceIsDeath: a process sends beats until it is gone, and is declared dead then.
func TestSilenceIsDeath(t *testing.T) {
	t.Parallel()
	observer, emitter := listen(t), listen(t)
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

// TestNeverConnected: who cannot be reached is declared dead as well.
func TestNeverConnected(t *testing.T) {
	w := observe(t, listen(t), adaptive.DetectionMin)
	w.suspects()
	assert.Equal(t, adaptive.BySilence, w.dies().Evidence)
}

// TestRefusedIsDeath: and that is known at once.
func TestRefusedIsDeath(t *testing.T) {
	observer, emitter := listen(t), listen(t)
	w := observe(t, observer, adaptive.Day)
	w.connect(emitter, emitter.Addr())
	w.Broken()
	w.suspects()
	w.Refused()
	assert.Equal(t, adaptive.ByRefusal, w.dies().Evidence)
}

// TestConnectedAgain: a new connection ends the suspicion, and beats come by it.
func TestConnectedAgain(t *testing.T) {
	observer, emitter := listen(t), listen(t)
	r := newRoad(t, emitter.Addr())
	w := observe(t, observer, 30*adaptive.Second)
	e, _ := w.connect(emitter, r.addr())
	r.await(t, beats, 1)
	e.End()
	w.Broken()
	w.suspects()
	w.connect(emitter, r.addr())
	for w.next().Kind != Trusted { // it has its first beats late, perhaps
	}
	r.await(t, beats, 2)
	w.trusts()
}

// TestLossIsMeasured: with one datagram of five lost a process is not declared dead, unless it was
// silent itself, and the observer knows that so many are lost, or more: what is late, because this
// machine is busy, is left out.
func TestLossIsMeasured(t *testing.T) {
	t.Parallel()
	observer, emitter := listen(t), listen(t)
	r := newRoad(t, emitter.Addr())
	r.lose = func(kind byte, n int) bool { return n%5 == 0 }
	const detection = 400
	w := observe(t, observer, detection*adaptive.Millisecond)
	w.connect(emitter, r.addr())
	r.await(t, beats, 160)
	f := w.Figures()
	assert.GreaterOrEqual(t, f.Network.Loss, 0.15)
	assert.Less(t, f.Period, 100*time.Millisecond)
	r.mu.Lock()
	silence := r.silence
	r.mu.Unlock()
	if silence < detection*time.Millisecond/4 {
		w.trusts()
	}
}

// TestByTheLink: where no datagram arrives, beats come by the connection, and it is said.
func TestByTheLink(t *testing.T) {
	t.Parallel()
	observer, emitter := listen(t), listen(t)
	w := observe(t, observer, long)
	number, key := w.Next(), []byte("key")
	came := make(chan bool, 1000)
	e, err := emitter.Emit(number, key, func(sealed []byte) { w.Hear(number, sealed); came <- true })
	require.NoError(t, err)
	w.Connected(Connection{Stream: number, Key: key, Link: e.Hear})
	for w.next().Kind != Odd {
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

// TestStrangers: datagrams that are repeated, changed, or from somewhere else neither move the
// beats nor keep the dead alive.
func TestStrangers(t *testing.T) {
	t.Parallel()
	observer, emitter := listen(t), listen(t)
	r := newRoad(t, emitter.Addr())
	w := observe(t, observer, long)
	w.connect(emitter, r.addr())
	beat := r.await(t, beats, 3)
	adjust := r.await(t, adjusts, 1)
	stranger := newRoad(t, emitter.Addr())
	send := func(to *Node, packet []byte) {
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
	assert.Zero(t, stranger.count[beats], "the beats went to a stranger")
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
				time.Sleep(time.Millisecond) // no one waits for this: it is how fast the stranger sends
			}
		}
	}()
	assert.Equal(t, adaptive.BySilence, w.dies().Evidence)
}

// TestTwoOfOneNumber: observers that have drawn the same number have their own beats.
func TestTwoOfOneNumber(t *testing.T) {
	t.Parallel()
	emitter := listen(t)
	for i := range 2 {
		w := observe(t, listen(t), long)
		r := newRoad(t, emitter.Addr())
		number, key := w.Next(), []byte{byte(i)}
		e, err := emitter.Emit(number, key, func([]byte) {})
		require.NoError(t, err)
		w.Connected(Connection{Stream: number, Addr: r.addr(), Key: key, Link: e.Hear})
		defer r.await(t, beats, 10)
		defer w.trusts()
	}
}

// TestClosed: a closed node says so.
func TestClosed(t *testing.T) {
	n := listen(t)
	w := observe(t, n, 0)
	n.Close()
	_, err := n.Observe(adaptive.QoS{}, func(News) {})
	require.ErrorIs(t, err, ErrClosed)
	_, err = n.Emit(1, nil, nil)
	require.ErrorIs(t, err, ErrClosed)
	w.End()
	assert.Zero(t, w.Figures())
	assert.Empty(t, w.news)
}

// FuzzTake: any datagram is taken or dropped; one that is not sealed with the right key
// changes nothing.
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
		n := newNode(7)
		o := &Observation{node: n, told: func(News) {}, stream: first, key: [KeyMax]byte([]byte("key" + strings.Repeat("\x00", KeyMax-3))), keyed: true}
		place, _ := n.observed.put(o)
		o.place = int32(place)
		n.carryOut(n.observer.Step(adaptive.Observe{Peer: place}))
		e := &Emission{node: n, stream: first, key: key, link: func([]byte) {}, adjusted: -1 << 63, probed: -1 << 63}
		e.place, _ = n.observers.put(e)
		n.byStream[first] = []*Emission{e}
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

// TestLapse: beats without a connection end when the observer is silent for long, and no beat is
// sent for ever.
func TestLapse(t *testing.T) {
	n := listen(t)
	for stream := range uint32(2) {
		e, err := n.Emit(stream, []byte("key"), func([]byte) {})
		require.NoError(t, err)
		e.Alone()
		if stream == 1 {
			n.ask(func() { e.until, n.sweep = 0, 0 })
		}
	}
	for end := time.Now().Add(within); n.Emissions() > 1; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "it has not ended")
	}
	require.Equal(t, 1, n.Emissions(), "the other one has time left")
}
