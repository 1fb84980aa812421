package udpheartbeat

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// Errors of a Node.
var (
	ErrClosed = errors.New("beat: closed")
	ErrFull   = fmt.Errorf("beat: %d processes observe, or are observed", adaptive.PeersMax)
)

// Node is the heartbeats of one process. Its methods may be called by any goroutine.
type Node struct {
	conn   *net.UDPConn
	origin time.Time
	ended  chan struct{}

	mu       sync.Mutex
	commands []func() // for the goroutine
	closed   bool

	// What follows belongs to the goroutine.
	observer  adaptive.Observer
	emitter   adaptive.Emitter
	observed  places[*Observation]
	observers places[*Emission]
	byStream  map[uint32][]*Emission // two observers may draw one number
	qualities []*adaptive.QoS        // that observations ask for
	alone     []*Emission            // without a connection
	sweep     adaptive.Time          // when they are next looked through
	packet    [256]byte              // read
	sealed    []byte                 // written
}

// Listen opens the socket. first is a number to begin those of observations with, drawn at
// random: what was sent to a process that had the same address before is not heard then.
func Listen(addr string, first uint32) (*Node, error) {
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", to)
	if err != nil {
		return nil, err
	}
	n := newNode(first)
	n.conn = conn
	go n.run()
	return n, nil
}

func newNode(first uint32) *Node {
	return &Node{origin: time.Now(), ended: make(chan struct{}), byStream: map[uint32][]*Emission{}, observer: adaptive.Observer{First: first}}
}

// Addr returns the address that takes datagrams.
func (n *Node) Addr() netip.AddrPort { return n.conn.LocalAddr().(*net.UDPAddr).AddrPort() }

// Close ends all. Nobody is told anything after it has returned.
func (n *Node) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.conn.Close()
	<-n.ended
}

func (n *Node) now() adaptive.Time { return adaptive.Time(time.Since(n.origin)) }

// do has the goroutine call f. It says no if there is none any more.
func (n *Node) do(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.commands = append(n.commands, f)
	_ = n.conn.SetReadDeadline(time.Now()) // wakes it
	return true
}

// ask is do, and waits.
func (n *Node) ask(f func()) bool {
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

// run is the goroutine: datagrams, commands, and time when nothing else is left.
func (n *Node) run() {
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

// untilNext returns how long nothing is due.
func (n *Node) untilNext() time.Duration {
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

// await carries out the commands, or reads one datagram, or lets that time pass and says so.
func (n *Node) await(wait time.Duration) (passed, ok bool) {
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
	return false, !n.closed // errors of single datagrams, as of an address where nobody listens, mean nothing
}

const (
	// lookFor is how long an empty socket is waited at before time is told. The runtime does
	// not read a socket whose deadline is over, so it has to be a while.
	lookFor = 100 * time.Microsecond
	// drainMax bounds what is read before time is told: strangers may send for ever.
	drainMax = 4096
)

// tick tells the machines what time it is, after all that lies in the socket.
func (n *Node) tick() {
	for range drainMax {
		n.mu.Lock()
		_ = n.conn.SetReadDeadline(time.Now().Add(lookFor))
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

// take reads a datagram: of an emitter that this process observes, or of an observer.
func (n *Node) take(sealed []byte, from netip.AddrPort) {
	stream, ok := adaptive.StreamOf(sealed)
	if !ok {
		return
	}
	if o, ok := n.observed.get(adaptive.PeerOf(stream)); ok && o.stream == stream && o.hear(sealed, true) {
		return
	}
	for _, e := range n.byStream[stream] {
		if e.hear(sealed, from) {
			return
		}
	}
}

// send hands over a datagram. One that cannot be sent is lost, as others are.
func (n *Node) send(key []byte, to netip.AddrPort, m adaptive.Message) {
	if !to.IsValid() {
		return
	}
	n.sealed = adaptive.Seal(n.sealed[:0], key, m)
	_, _ = n.conn.WriteToUDPAddrPort(n.sealed, to)
}

// places gives numbers from 0 up to PeersMax to things.
type places[T any] struct {
	at   []T
	used []bool
	free []int
}

// put returns the place of a thing.
func (p *places[T]) put(thing T) (int, error) {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		p.at[i], p.used[i] = thing, true
		return i, nil
	}
	if len(p.at) == adaptive.PeersMax {
		return 0, ErrFull
	}
	p.at, p.used = append(p.at, thing), append(p.used, true)
	return len(p.at) - 1, nil
}

func (p *places[T]) get(i int) (thing T, ok bool) {
	if i >= len(p.at) || !p.used[i] {
		return thing, false
	}
	return p.at[i], true
}

func (p *places[T]) drop(i int) {
	var none T
	p.at[i], p.used[i] = none, false
	p.free = append(p.free, i)
}
