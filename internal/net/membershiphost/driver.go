package membershiphost

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A Host executes the decisions of the rules. One goroutine calls its methods, one at a time. They
// must not block: this member sends no beat meanwhile. No method may call the Driver.
type Host interface {
	// Lease: the ranks of the node may run until then, by Config.Now.
	Lease(until mono.Time)
	// Freeze: the ranks of the node stop now. Thaw: they continue, if nothing but Freeze has
	// stopped them.
	Freeze()
	Thaw()
	// Declaration: a member was declared dead, once.
	Declaration(member int)
	// Learned: entries of another member's list, in its order, each once.
	Learned(origin int, entries []membership.Entry)
	// Coordinator: a member is the coordinator from now on. For the event log.
	Coordinator(member int)
	// Suspect: for the event log.
	Suspect(member int, silent mono.Duration)
	// Over: this member must end its ranks and itself.
	Over(why string)
	// Anomaly: a member sent a message that makes no sense.
	Anomaly(member int, text string)
}

// A Peer holds the addresses of a member.
type Peer struct {
	Birth   uint64
	Addr    string // TCP
	Packets string // UDP
}

// Config describes one member.
type Config struct {
	Roster membership.Config
	Trust  *socket.Trust
	Peers  []Peer // by member, including this one; empty for a member that has not joined yet (Roster.Absent)
	Place  *Place // the sockets of this member; Close closes them
	Host   Host
	Now    func() mono.Time // a clock that continues while the machine sleeps
	// Hurry raises the priority of the calling thread; nil: no thread is raised. Beats that wait
	// for a processor while ranks compute are indistinguishable from the silence of a dead node.
	Hurry func()
}

// A Driver applies the rules of package membership for one member: it gives them the time and the
// messages of other members, and executes their actions.
type Driver struct {
	cfg     Config
	rules   *membership.Roster
	links   []*link  // by member; nil at its own place
	ways    []way    // by member
	sent    []uint64 // by member: sequence of the last datagram
	sealed  []byte
	keeping keeping // used by run alone, like the following fields
	period  mono.Duration
	seen    []uint64 // by member: sequence of the last datagram from it

	events chan membership.Event
	holds  chan hold
	closed chan struct{}
	once   sync.Once
	ended  sync.WaitGroup
}

// A hold is a call of Hold.
type hold struct {
	on   bool
	done chan struct{} // closed once it has taken effect
}

// Start starts the driver of one member. All members must start within one Timeout of each other.
func Start(cfg Config) (*Driver, error) {
	cfg.Roster.Start = cfg.Now()
	if err := cfg.Roster.Check(); err != nil {
		return nil, err
	}
	v := &Driver{cfg: cfg, rules: membership.New(cfg.Roster), sent: make([]uint64, len(cfg.Peers)),
		period: cfg.Roster.WithDefaults().Period, seen: make([]uint64, len(cfg.Peers)), events: make(chan membership.Event, 256), holds: make(chan hold, 1), closed: make(chan struct{}), keeping: keeping{coordinator: nobody}}
	v.ways = make([]way, len(cfg.Peers))
	for member, p := range cfg.Peers {
		v.ways[member].opened = make(chan struct{})
		if !cfg.Roster.Absent.Has(member) {
			if err := v.ways[member].open(p); err != nil {
				return nil, err
			}
		}
		v.links = append(v.links, nil)
		if member != cfg.Roster.Me {
			v.links[member] = newLink(v, member)
		}
	}
	v.ended.Go(v.accept)
	v.ended.Go(v.run)
	return v, nil
}

// Close ends the Driver: this member sends nothing more, and no other member can reach it.
func (v *Driver) Close() {
	v.once.Do(func() { close(v.closed) })
	v.cfg.Place.wake()
	_ = v.cfg.Place.listener.Close()
	for _, l := range v.links {
		if l != nil {
			l.stop()
		}
	}
	v.ended.Wait()
	v.cfg.Place.Close() // run has returned, so its thread no longer uses the sockets
}

// Admit makes a member known that was absent at Start: see membership.Came. A second call for the
// member has no effect, nor has a call after Close.
func (v *Driver) Admit(member int, p Peer) error {
	if member < 0 || member >= len(v.ways) || member == v.cfg.Roster.Me {
		return fmt.Errorf("%w: member %d", socket.ErrStranger, member)
	}
	if err := v.ways[member].open(p); err != nil {
		return err
	}
	v.tell(membership.Came{Member: member})
	return nil
}

// Condemn ends the lease of a member to which the coordinator can no longer give orders, so that
// the member is declared dead. Condemn does nothing after Close.
func (v *Driver) Condemn(member int) { v.tell(membership.Condemned{Member: member}) }

// Unreachable reports that processes of this node cannot connect to those of a member, or (so is
// false) can connect again. Unreachable does nothing after Close. No Host method may call it.
func (v *Driver) Unreachable(member int, so bool) {
	if so {
		v.tell(membership.Unreachable{Member: member})
		return
	}
	v.tell(membership.Reachable{Member: member})
}

// Publish sends entries to all other members. The entries are already in this node's own list
// (B23). Publish does nothing after Close. No Host method may call it.
func (v *Driver) Publish(entries ...membership.Entry) { v.tell(membership.Publish{Entries: entries}) }

// Hold with true stops this member as if its machine had stopped; the driver calls no Host method
// until Hold(false). Hold returns once it has taken effect.
func (v *Driver) Hold(so bool) {
	h := hold{so, make(chan struct{})}
	select {
	case v.holds <- h:
	case <-v.closed:
		return
	}
	v.cfg.Place.wake()
	select {
	case <-h.done:
	case <-v.closed:
	}
}

// tell queues an event for the rules.
func (v *Driver) tell(ev membership.Event) {
	select {
	case v.events <- ev:
		v.cfg.Place.wake()
	case <-v.closed:
	}
}

// run steps the rules with events and with the time, on a thread of its own that waits in the
// kernel. If goroutines received the datagrams, each datagram would wake three threads one after
// another: the runtime's poller, the receiving goroutine, and run. An idle daemon would spend most
// of its time in these hand-offs.
//
// The time precedes each event: after a pause the rules check the lease first.
func (v *Driver) run() {
	if v.cfg.Hurry != nil {
		runtime.LockOSThread() // never unlocked: the thread ends with the loop
		v.cfg.Hurry()
	}
	for v.doNext() {
		v.keepLinks()
	}
}

// doNext waits for the next event or deadline and handles it; false: the driver is closed.
func (v *Driver) doNext() bool {
	select {
	case <-v.closed:
		return false
	case h := <-v.holds:
		close(h.done)
		v.waitHeld(h.on)
		return true
	default:
	}
	most := v.untilDeadline()
	if most == 0 {
		v.tick()
		return true
	}
	select {
	case ev := <-v.events:
		v.inTime(func() { v.step(ev) })
		return true
	default:
	}
	v.cfg.Place.asleep.Store(true)
	if v.isPosted() {
		v.cfg.Place.asleep.Store(false)
		return true
	}
	if v.cfg.Place.wait(most) {
		if b := v.cfg.Place.next(); b != nil {
			v.inTime(func() { v.hear(b) })
		}
	}
	return true
}

// untilDeadline returns the time until the next deadline of the rules; negative: there is none; 0:
// the deadline has passed.
func (v *Driver) untilDeadline() mono.Duration {
	at, ok := v.rules.Deadline()
	if !ok {
		return -1
	}
	return max(at.Sub(v.cfg.Now()), 0)
}

// isPosted reports whether another goroutine has left an event, a hold, or the end of the driver
// for run.
func (v *Driver) isPosted() bool {
	select {
	case <-v.closed:
		return true
	default:
		return len(v.events) > 0 || len(v.holds) > 0
	}
}

// inTime steps the rules with the time before an event, and again after the event. A timer that a
// heartbeat starts counts from the next Tick, which might otherwise come a period later. If this
// loop is late, the rules receive everything else that has arrived before the second Tick: those
// messages have waited in this process, so their delay is not a delay of the network.
func (v *Driver) inTime(happen func()) {
	now := v.cfg.Now()
	late := v.isLate(now)
	v.step(membership.Tick{Now: now})
	happen()
	if late {
		v.hearAll()
	}
	v.step(membership.Tick{Now: v.cfg.Now()})
}

// isLate reports whether the deadline of the rules passed more than a quarter of a period ago.
func (v *Driver) isLate(now mono.Time) bool {
	at, ok := v.rules.Deadline()
	return ok && now.Sub(at) > v.period/4
}

// tick steps the rules with the time. The rules receive everything that has arrived first: they
// must not suspect a member whose message waits here unread. If this loop itself is late, the time
// comes first, and the rules forgive as much silence as the loop is late.
func (v *Driver) tick() {
	if v.isLate(v.cfg.Now()) {
		v.inTime(func() {})
		return
	}
	v.hearAll()
	v.step(membership.Tick{Now: v.cfg.Now()})
}

// hearAll steps the rules with all events and datagrams that wait.
func (v *Driver) hearAll() {
	for {
		select {
		case ev := <-v.events:
			v.step(ev)
			continue
		default:
		}
		b := v.cfg.Place.next()
		if b == nil {
			return
		}
		v.hear(b)
	}
}

// waitHeld waits until Hold(false) if held is true.
func (v *Driver) waitHeld(held bool) {
	for held {
		select {
		case h := <-v.holds:
			close(h.done)
			held = h.on
		case <-v.closed:
			return
		}
	}
}

// step steps the rules with one event and executes the resulting actions.
func (v *Driver) step(ev membership.Event) {
	host := v.cfg.Host
	if _, came := ev.(membership.Came); came {
		v.keeping.coordinator = nobody // the new member may need a connection
	}
	for _, a := range v.rules.Step(ev) {
		switch a := a.(type) {
		case membership.Send:
			v.send(a)
		case membership.Lease:
			host.Lease(a.Until)
		case membership.Freeze:
			host.Freeze()
		case membership.Thaw:
			host.Thaw()
		case membership.Suspect:
			host.Suspect(a.Member, a.Silent)
		case membership.Declaration:
			v.keeping.coordinator = nobody // its connection must be closed
			host.Declaration(a.Member)
		case membership.Fenced:
			host.Over("it was declared dead")
		case membership.End:
			host.Over(endText(a))
		case membership.Anomaly:
			host.Anomaly(a.From, a.Text)
		case membership.Learned:
			host.Learned(a.Origin, a.Entries)
		case membership.Coordinator:
			host.Coordinator(a.Member)
		}
	}
}

func endText(a membership.End) string {
	if a.Frozen > 0 {
		return "nobody has granted it anything for " + time.Duration(a.Frozen).Round(time.Millisecond).String()
	}
	return "its launcher is gone"
}

// send sends a message by UDP if the rules ask for a datagram, otherwise by TCP. A message too long
// for a datagram is also sent by TCP.
func (v *Driver) send(s membership.Send) {
	if !s.Datagram || len(s.Msg) > socket.DatagramMaxMsg {
		v.links[s.To].post(s.Msg)
		return
	}
	v.sent[s.To]++
	to := v.ways[s.To].to.Load()
	v.sealed = v.cfg.Trust.SealDatagram(v.sealed[:0], to.Birth, uint32(v.cfg.Roster.Me), v.sent[s.To], s.Msg)
	v.cfg.Place.sendTo(v.sealed, to.packets)
}

// keeping names the members to which this one keeps connections. A coordinator keeps one to every
// live member.
type keeping struct{ coordinator, emitter int }

// nobody is not the number of a member.
const nobody = -1

// keepLinks keeps connections to the members whose end this one has to notice: the coordinator, and
// the member whose heartbeats it observes. A coordinator keeps a connection to every live member.
func (v *Driver) keepLinks() {
	coordinator, emitter := v.rules.Watches()
	now := keeping{coordinator, emitter}
	if now == v.keeping {
		return
	}
	v.keeping = now
	dead, me := v.rules.Dead(), v.cfg.Roster.Me
	for m, l := range v.links {
		if l != nil {
			l.keep(!dead.Has(m) && v.ways[m].to.Load() != nil && (m == coordinator || m == emitter || me == coordinator))
		}
	}
}
