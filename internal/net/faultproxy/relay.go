package faultproxy

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// dialFor is the time within which the target has to accept.
const dialFor = 5 * time.Second

// A Relay listens at Addr and forwards to its target. Any goroutine may call its methods.
type Relay struct {
	listener *net.TCPListener
	target   string
	plan     Plan

	mu      sync.Mutex
	changed *sync.Cond // with mu: for changes that a goroutine waits for
	links   map[*link]struct{}
	stats   Stats
	stalled [2]bool
	refuses bool
	follows bool
	closed  bool
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Stats counts the work of a relay.
type Stats struct {
	Accepted int       // connections of dialers
	Made     int       // of them, the connections that the target has accepted, too; they number the plan
	Open     int       // of those, the connections that are present
	Bytes    [2]int64  // forwarded, by Direction
	Done     [acts]int // by Act, one for each connection; a Stall on command is counted once, also without a connection
	Waiting  [2]int    // by Direction: connections that have data and are stalled
}

// New returns a relay on loopback, of the family of the target, for a target, "host:port". With a
// nil plan there are no faults. The target need not listen yet. An error is the operating
// system's.
func New(target string, plan Plan) (*Relay, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: loopbackFor(target)})
	if err != nil {
		return nil, err
	}
	if plan == nil {
		plan = First()
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Relay{listener: l, target: target, plan: plan, links: map[*link]struct{}{}, cancel: cancel}
	r.changed = sync.NewCond(&r.mu)
	r.running.Add(1)
	go r.accept(ctx)
	return r, nil
}

// loopbackFor returns the loopback address of the family of a target.
func loopbackFor(target string) net.IP {
	host, _, _ := net.SplitHostPort(target)
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		return net.IPv6loopback
	}
	return net.IPv4(127, 0, 0, 1)
}

// Addr returns the listening address of the relay, such as "127.0.0.1:port".
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close resets all connections, stops listening, and returns when all goroutines have ended.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	r.changed.Broadcast()
	r.mu.Unlock()
	r.cancel()
	_ = r.listener.Close()
	r.each((*link).kill)
	r.running.Wait()
}

// Cut resets all connections.
func (r *Relay) Cut() { r.each(func(l *link) { l.do(Cut, ToTarget) }) }

// End ends all connections in order.
func (r *Relay) End() { r.each(func(l *link) { l.do(End, ToTarget) }) }

// HalfOpen resets the end of all connections towards which a direction leads, and leaves the
// other.
func (r *Relay) HalfOpen(d Direction) { r.each(func(l *link) { l.do(HalfOpen, d) }) }

// Swallow makes the data in a direction of all present connections vanish.
func (r *Relay) Swallow(d Direction) { r.each(func(l *link) { l.do(Swallow, d) }) }

// Stall stops a direction of all connections, including future ones.
func (r *Relay) Stall(d Direction) {
	r.mu.Lock()
	r.stalled[d] = true
	r.stats.Done[Stall]++
	r.mu.Unlock()
}

// Heal ends every Stall, by plan or on command: the stalled directions continue.
func (r *Relay) Heal() { r.Resume(ToTarget, ToDialer) }

// Resume is Heal of some directions.
func (r *Relay) Resume(directions ...Direction) {
	r.mu.Lock()
	for _, d := range directions {
		r.stalled[d] = false
		for l := range r.links {
			l.stalled[d] = false
		}
	}
	r.changed.Broadcast()
	r.mu.Unlock()
}

// Refuse resets new connections, until Refuse(false).
func (r *Relay) Refuse(refuse bool) {
	r.mu.Lock()
	r.refuses = refuse
	r.mu.Unlock()
}

// RefuseWithTarget makes the relay stop listening once its target refuses a connection: later
// dialers are refused, too, as they are without a relay. The dialer that finds the target closed
// is reset. A stall defers that: a network that is cut does not refuse.
func (r *Relay) RefuseWithTarget() {
	r.mu.Lock()
	r.follows = true
	r.mu.Unlock()
}

// Stats returns the counts so far.
func (r *Relay) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Await returns true when the counts satisfy want, and false if the relay was closed before. want
// must not call the relay.
func (r *Relay) Await(want func(Stats) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !want(r.stats) {
		if r.closed {
			return false
		}
		r.changed.Wait()
	}
	return true
}

// count changes the counts.
func (r *Relay) count(change func(s *Stats)) {
	r.mu.Lock()
	change(&r.stats)
	r.changed.Broadcast()
	r.mu.Unlock()
}

// each calls do for the present connections.
func (r *Relay) each(do func(l *link)) {
	r.mu.Lock()
	var list []*link
	for l := range r.links {
		list = append(list, l)
	}
	r.mu.Unlock()
	for _, l := range list {
		do(l)
	}
}

// accept joins each dialer with the target.
func (r *Relay) accept(ctx context.Context) {
	defer r.running.Done()
	for {
		c, err := r.listener.AcceptTCP()
		if err != nil {
			return
		}
		r.mu.Lock()
		refuses := r.refuses
		r.stats.Accepted++
		r.changed.Broadcast()
		r.mu.Unlock()
		if refuses || !r.join(ctx, c) {
			resetConn(c)
		}
	}
}

// join dials the target and forwards from then on. The relay joins one dialer after the other, so
// that the number of a connection is that of its dialer.
func (r *Relay) join(ctx context.Context, dialer *net.TCPConn) bool {
	ctx, cancel := context.WithTimeout(ctx, dialFor)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.target)
	if err != nil {
		r.follow(err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		resetConn(c.(*net.TCPConn))
		return false
	}
	script := r.plan(r.stats.Made)
	r.stats.Made++
	r.stats.Open++
	r.changed.Broadcast()
	l := &link{relay: r, ends: [2]*net.TCPConn{dialer, c.(*net.TCPConn)}}
	l.flowing.Store(2)
	r.links[l] = struct{}{}
	r.running.Add(2)
	for _, d := range [2]Direction{ToTarget, ToDialer} {
		go l.flow(d, script.of(d), script.Delay)
	}
	return true
}

// follow ends the listener if the target refuses connections: see RefuseWithTarget.
func (r *Relay) follow(err error) {
	r.mu.Lock()
	ends := r.follows && errors.Is(err, syscall.ECONNREFUSED) && !r.stalled[ToTarget] && !r.stalled[ToDialer]
	r.mu.Unlock()
	if ends {
		_ = r.listener.Close()
	}
}

// leave forgets a connection whose directions have both ended.
func (r *Relay) leave(l *link) {
	r.mu.Lock()
	delete(r.links, l)
	r.stats.Open--
	r.changed.Broadcast()
	r.mu.Unlock()
}

func resetConn(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
