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

// A Host does what the rules decide. Its methods are called by one goroutine, one at a time, and
// must not wait for anything: meanwhile no beat goes out. None calls the Driver.
type Host interface {
	// Lease: the ranks of the node may run until then, by Config.Now.
	Lease(until mono.Time)
	// Freeze: the ranks of the node stop now. Thaw: they go on, if only Freeze has stopped them.
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
	// Anomaly: a member said nonsense.
	Anomaly(member int, text string)
}

// A Peer is where a member is reached.
type Peer struct {
	Birth   uint64
	Addr    string // TCP
	Packets string // UDP
}

// Config describes one member.
type Config struct {
	Roster membership.Config
	Trust  *socket.Trust
	Peers  []Peer // by member, this one, too; of one that is not there yet (Roster.Absent) it is empty
	Place  *Place // where this one is reached; Close closes it
	Host   Host
	Now    func() mono.Time // a clock that does not stand still while the machine sleeps
	// Hurry has the thread that calls it go before others; nil: none does. Beats that wait for a
	// processor while ranks compute look like those of a node that is gone.
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
	keeping keeping // of run alone, as what follows
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

// Start starts the driver of one member. All members are started at most a Timeout apart.
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

// Close ends the Driver: this member sends nothing any more, and nobody reaches it.
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
	v.cfg.Place.Close() // the thread of run has it no more
}

// Admit has a member known that was not there yet: see membership.Came. A second time it does
// nothing, nor once the driver is closed.
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

// Condemn has a member, to which the coordinator cannot give orders any more, lose its lease and be
// declared. It does nothing once the driver is closed.
func (v *Driver) Condemn(member int) { v.tell(membership.Condemned{Member: member}) }

// Publish has all others learn of entries, which are in this node's own list already (B23). It does
// nothing once the driver is closed. No Host method calls it.
func (v *Driver) Publish(entries ...membership.Entry) { v.tell(membership.Publish{Entries: entries}) }

// Hold has this member stand still, as if its machine did; no Host method is called until
// Hold(false). It returns when that is so.
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

// tell hands an event to the rules.
func (v *Driver) tell(ev membership.Event) {
	select {
	case v.events <- ev:
		v.cfg.Place.wake()
	case <-v.closed:
	}
}

// run hands events to the rules, and time, on a thread of its own that waits in the kernel. By
// goroutines a datagram would wake three threads one after another: the runtime's poller, the
// receiving goroutine, and run. An idle daemon would spend most of its time in these hand-offs.
//
// Time comes before each event: after a pause the lease is checked first.
func (v *Driver) run() {
	if v.cfg.Hurry != nil {
		runtime.LockOSThread() // never unlocked: the thread ends with the loop
		v.cfg.Hurry()
	}
	for v.doNext() {
		v.keepLinks()
	}
}

// doNext waits until there is something to do, and does it; false: the driver is closed.
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

// untilDeadline returns how long the rules want to wait at most; negative: no limit; 0: they want
// the time now.
func (v *Driver) untilDeadline() mono.Duration {
	at, ok := v.rules.Deadline()
	if !ok {
		return -1
	}
	return max(at.Sub(v.cfg.Now()), 0)
}

// isPosted reports whether another goroutine has something for run.
func (v *Driver) isPosted() bool {
	select {
	case <-v.closed:
		return true
	default:
		return len(v.events) > 0 || len(v.holds) > 0
	}
}

// inTime gives the rules the time before something that has happened, and after it: what a
// heartbeat sets running counts from the next Tick, and that might come a period later. If this
// loop is late, all that has arrived comes before that second Tick: it has waited here, and says
// nothing of how long the way takes.
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

// isLate says whether the rules wanted the time a while ago.
func (v *Driver) isLate(now mono.Time) bool {
	at, ok := v.rules.Deadline()
	return ok && now.Sub(at) > v.period/4
}

// tick hands the time to the rules. What has arrived comes before it, though the goroutine that
// receives may not have run yet: a member that waits there must not be found silent. If this loop
// is late itself the time comes first, and the rules forgive as much as it is late.
func (v *Driver) tick() {
	if v.isLate(v.cfg.Now()) {
		v.inTime(func() {})
		return
	}
	v.hearAll()
	v.step(membership.Tick{Now: v.cfg.Now()})
}

// hearAll hands to the rules all that lies there.
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

// waitHeld waits until Hold(false).
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

// step hands one event to the rules and has done what they want.
func (v *Driver) step(ev membership.Event) {
	host := v.cfg.Host
	if _, came := ev.(membership.Came); came {
		v.keeping.coordinator = nobody // the connection to it may have to be kept
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
			v.keeping.coordinator = nobody // it may be kept no more
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

// send hands a message to the way that it wants. One that is too long for a datagram goes the
// other way.
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

// keeping is to whom connections are kept, besides by a coordinator to everybody that lives.
type keeping struct{ coordinator, emitter int }

// nobody is no member.
const nobody = -1

// keepLinks keeps a connection to those whose end this member has to notice: the coordinator, and
// the member that it listens for; a coordinator to everybody.
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
