package beat

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Errors of an Endpoint.
var (
	ErrClosed = errors.New("beat: the endpoint is closed")
	ErrFull   = fmt.Errorf("beat: an endpoint has %d monitors or senders at most", adaptive.PeersMax)
	ErrKey    = errors.New("beat: invalid key")
)

// KeyMax is the largest length of a key, in bytes.
const KeyMax = 16

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeyMax)
	_, _ = rand.Read(key) // never fails
	return key
}

// checkKey returns an error that wraps ErrKey for a key of a length that is not allowed.
func checkKey(key []byte) error {
	if len(key) == 0 || len(key) > KeyMax {
		return fmt.Errorf("%w: %d bytes, want 1 to %d: use NewKey", ErrKey, len(key), KeyMax)
	}
	return nil
}

// Endpoint is the socket of a process for its heartbeats: those that it sends, and those that it
// receives. Its methods may be called by any goroutine, but not by the functions that its own
// goroutine calls (notify, Connection.Link, the link of Accept): see Monitor.
type Endpoint struct {
	conn   *net.UDPConn
	origin time.Time
	ended  chan struct{}

	mu       sync.Mutex
	commands []func() // for the goroutine
	closed   bool

	// The following fields belong to the goroutine.
	observer  adaptive.Observer
	emitter   adaptive.Emitter
	monitors  places[*Monitor]
	senders   places[*Sender]
	byStream  map[uint32][]*Sender // two monitors may draw one number
	qualities []*adaptive.QoS      // that monitors request
	alone     []*Sender            // without a connection
	sweep     adaptive.Time        // of the next check of these
	packet    [256]byte            // read
	sealed    []byte               // written
}

// Listen opens an endpoint at a UDP address, such as "127.0.0.1:0". It returns an error if the
// address is invalid or cannot be opened.
func Listen(addr string) (*Endpoint, error) {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return listen(addr, binary.NativeEndian.Uint32(random[:]))
}

// listen opens an endpoint and numbers its streams from first. A random number prevents that
// messages for a former process with the same address are accepted.
func listen(addr string, first uint32) (*Endpoint, error) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("beat: address %q: %w", addr, err)
	}
	conn, err := net.ListenUDP("udp", to)
	if err != nil {
		return nil, fmt.Errorf("beat: address %q: %w", addr, err)
	}
	n := newEndpoint(first)
	n.conn = conn
	go n.run()
	return n, nil
}

func newEndpoint(first uint32) *Endpoint {
	return &Endpoint{origin: time.Now(), ended: make(chan struct{}), byStream: map[uint32][]*Sender{}, observer: adaptive.Observer{First: first}}
}

// Addr returns the address that receives datagrams.
func (n *Endpoint) Addr() netip.AddrPort { return n.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close ends all monitors and senders without a message to the other processes, which find this one
// silent. After its return notify is not called any more. Close waits for the goroutine.
func (n *Endpoint) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.conn.Close()
	<-n.ended
}

func (n *Endpoint) now() adaptive.Time { return adaptive.Time(time.Since(n.origin)) }

// do queues f for the goroutine. It returns false if the endpoint is closed.
func (n *Endpoint) do(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.commands = append(n.commands, f)
	_ = n.conn.SetReadDeadline(time.Now()) // wakes the goroutine
	return true
}

// ask runs f in the goroutine, and waits for its end. If the endpoint is closed, ask returns false,
// and f may not have run.
func (n *Endpoint) ask(f func()) bool {
	done := make(chan struct{})
	if !n.do(func() { f(); close(done) }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-n.ended:
		return false
	}
}

// run is the goroutine. It executes commands first, then reads datagrams until the next timer is
// due, and then calls tick.
func (n *Endpoint) run() {
	defer close(n.ended)
	for {
		until, ok := n.await(n.untilNext())
		switch {
		case !ok:
			return
		case until:
			n.tick()
		}
	}
}

// untilNext returns the time until the next timer is due, at most an hour; not above 0 if one is
// due.
func (n *Endpoint) untilNext() time.Duration {
	const long = time.Hour
	at := n.now().Add(adaptive.Duration(long))
	if d, ok := n.observer.Deadline(); ok {
		at = min(at, d)
	}
	if d, ok := n.emitter.Deadline(); ok {
		at = min(at, d)
	}
	if len(n.alone) > 0 {
		at = min(at, n.sweep)
	}
	return time.Duration(at.Sub(n.now()))
}

// await runs the commands, or reads one datagram, or waits. It reports whether a timer is due, and
// whether the endpoint is open.
func (n *Endpoint) await(wait time.Duration) (passed, ok bool) {
	n.mu.Lock()
	commands := n.commands
	n.commands = nil
	if len(commands) == 0 {
		_ = n.conn.SetReadDeadline(time.Now().Add(max(wait, 0)))
	}
	n.mu.Unlock()
	if len(commands) > 0 {
		for _, f := range commands {
			f()
		}
		return false, true
	}
	size, from, err := n.conn.ReadFromUDPAddrPort(n.packet[:])
	switch {
	case err == nil:
		n.take(n.packet[:size], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		return false, true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n.untilNext() <= 0, true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return false, !n.closed // errors of single datagrams, such as refusals, are ignored
}

const (
	// drainFor is how long an empty socket is read before a timer runs. The runtime does not read
	// a socket after its deadline, so the time must be above zero.
	drainFor = 100 * time.Microsecond
	// drainMax bounds the datagrams before a timer runs: strangers may send without end.
	drainMax = 4096
)

// tick reads the datagrams in the socket, at most drainMax, and runs the timers then.
func (n *Endpoint) tick() {
	for range drainMax {
		n.mu.Lock()
		_ = n.conn.SetReadDeadline(time.Now().Add(drainFor))
		n.mu.Unlock()
		size, from, err := n.conn.ReadFromUDPAddrPort(n.packet[:])
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) {
			break
		}
		if err == nil {
			n.take(n.packet[:size], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	}
	now := n.now()
	n.carryOut(n.observer.Step(adaptive.Tick{Now: now}))
	n.reply(n.emitter.Step(adaptive.Instant{Now: now}))
	if now >= n.sweep {
		n.endLapsed(now)
	}
}

// take handles a datagram: of a monitored process, or of a monitor of this process.
func (n *Endpoint) take(sealed []byte, from netip.AddrPort) {
	stream, ok := adaptive.StreamOf(sealed)
	if !ok {
		return
	}
	if m, ok := n.monitors.get(adaptive.PeerOf(stream)); ok && m.stream == stream && m.receive(sealed, true) {
		return
	}
	for _, s := range n.byStream[stream] {
		if s.receive(sealed, from) {
			return
		}
	}
}

// send sends a datagram. An error counts as a lost datagram.
func (n *Endpoint) send(key []byte, to netip.AddrPort, m adaptive.Message) {
	if !to.IsValid() {
		return
	}
	n.sealed = adaptive.Seal(n.sealed[:0], key, m)
	_, _ = n.conn.WriteToUDPAddrPort(n.sealed, to)
}

// places is a table that uses its indices, 0 to PeersMax-1, again.
type places[T any] struct {
	at   []T
	used []bool
	free []int
}

// put adds a value and returns its index.
func (p *places[T]) put(value T) (int, error) {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		p.at[i], p.used[i] = value, true
		return i, nil
	}
	if len(p.at) == adaptive.PeersMax {
		return 0, ErrFull
	}
	p.at, p.used = append(p.at, value), append(p.used, true)
	return len(p.at) - 1, nil
}

func (p *places[T]) get(i int) (value T, ok bool) {
	if i >= len(p.at) || !p.used[i] {
		return value, false
	}
	return p.at[i], true
}

func (p *places[T]) drop(i int) {
	var none T
	p.at[i], p.used[i] = none, false
	p.free = append(p.free, i)
}
