package session

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

const ms = mono.Millisecond

// A pair is both ends of one lane, their hosts, and the links between them. A link carries items in
// order. When a link breaks, its items in flight are lost.
type pair struct {
	ends  [2]*end
	links []*link // the links that still carry items
	now   mono.Time
	// vanish makes a dial on a closed road hang instead of being refused.
	vanish bool

	log       func(format string, args ...any) // logs each step; nil in long runs
	violation error
}

// An end is a session and its host.
type end struct {
	s        *Session
	cursor   uint64 // the next byte to write on the open connection
	received uint64 // bytes that this host keeps, by the host's own count
	taken    uint64
	released uint64
	accepted Conn // the last even number used
	closed   bool
	lost     uint64
	fenced   bool
	told     int // Unreachable minus Reachable
	mute     bool
	asks     bool // this end has asked the peer to dial, and the peer has not received the request
}

// A link is a connection: made by the dialer, with a queue in each direction.
type link struct {
	dialer int
	dial   uint64    // the dialer's count: "0.1" is the first dial of 0
	conn   [2]Conn   // the name of the link at each end; 0 at the acceptor until the hello is there
	up     bool      // the transport has connected the link
	closed [2]bool   // whether the end has dropped the link
	queue  [2][]item // items in flight to each end
}

// An item is a Hello, a piece of a stream, or one of the marks.
type item struct {
	kind     string // hello, data, ack, bye, bye-ack, end
	hello    Hello
	from, to uint64 // bytes of the stream; for an ack, to
}

func (i item) String() string {
	switch i.kind {
	case "hello":
		return fmt.Sprintf("%v received=%d", i.hello.Status, i.hello.Received)
	case "data":
		return fmt.Sprintf("data %d-%d", i.from, i.to)
	case "ack":
		return fmt.Sprintf("ack %d", i.to)
	}
	return i.kind
}

func identity(number int) Identity {
	return Identity{Number: uint32(number), Birth: uint64(1000 + number)}
}

func newPair(copied, referred int) *pair {
	p := &pair{}
	for me := range p.ends {
		cfg := Config{Job: 7, Me: identity(me), Peer: identity(1 - me), Copied: copied, Referred: referred}
		p.ends[me] = &end{s: New(cfg)}
	}
	return p
}

func (p *pair) say(format string, args ...any) {
	if p.log != nil {
		p.log(format, args...)
	}
}

func (p *pair) violated(format string, args ...any) {
	if p.violation == nil {
		p.violation = fmt.Errorf(format, args...)
		p.say("VIOLATION %v", p.violation)
	}
}

// step gives an event to one end and carries out the actions of its session.
func (p *pair) step(me int, ev Event) {
	e := p.ends[me]
	if e.mute {
		return
	}
	actions := slices.Clone(e.s.Step(ev))
	for _, a := range actions {
		p.do(me, a)
	}
	p.write(me)
}

// tick moves the clock of one end to now, as a host does before it reports anything.
func (p *pair) tick(me int) { p.step(me, Tick{Now: p.now}) }

func (p *pair) do(me int, a Action) {
	e := p.ends[me]
	switch a := a.(type) {
	case Dial:
		l := &link{dialer: me, dial: e.s.dials}
		l.conn[me] = a.Conn
		p.links = append(p.links, l)
		p.say("%d dials %s", me, l.name())
	case Greet:
		p.post(me, a.Conn, item{kind: "hello", hello: a.Hello})
	case Answer:
		p.post(me, a.Conn, item{kind: "hello", hello: a.Hello})
	case Drop:
		p.drop(me, a.Conn)
	case Opened:
		e.cursor = a.From
		p.say("%d opened %s from %d", me, p.find(me, a.Conn).name(), a.From)
		if a.From < e.released {
			p.violated("%d writes again from %d, released is %d", me, a.From, e.released)
		}
	case Release:
		p.say("%d releases to %d", me, a.To)
		if peer := p.ends[1-me]; a.To > peer.taken {
			p.violated("%d releases to %d, taken is %d", me, a.To, peer.taken)
		}
		e.released = a.To
	case WriteAck:
		p.write(me)
		p.post(me, a.Conn, item{kind: "ack", to: a.Taken})
	case WriteBye:
		p.post(me, a.Conn, item{kind: "bye"})
	case WriteByeAck:
		p.post(me, a.Conn, item{kind: "bye-ack"})
	case Closed:
		e.closed, e.lost = true, a.Lost
		p.say("%d closed, lost %d", me, a.Lost)
	case Fenced:
		e.fenced = true
		p.say("%d fenced", me)
	case Ask:
		p.say("%d asks to be dialed", me)
		e.asks = true
	case Unreachable:
		e.told++
		p.say("%d complains", me)
	case Reachable:
		e.told--
		p.say("%d complains no more", me)
	case Anomaly:
		p.say("%d anomaly: %s", me, a.Text)
	}
	if e.told < 0 || e.told > 1 {
		p.violated("%d complained %d times more than it withdrew", me, e.told)
	}
}

// write sends all appended bytes that are not written yet over the open connection.
func (p *pair) write(me int) {
	e := p.ends[me]
	if c := e.s.Current(); c != 0 && e.cursor < e.s.out.queued {
		p.post(me, c, item{kind: "data", from: e.cursor, to: e.s.out.queued})
		e.cursor = e.s.out.queued
	}
}

func (l *link) name() string { return fmt.Sprintf("%d.%d", l.dialer, l.dial) }

// find returns the link that has the name c at an end, or nil if the link is forgotten.
func (p *pair) find(me int, c Conn) *link {
	for _, l := range p.links {
		if l.conn[me] == c {
			return l
		}
	}
	return nil
}

func (p *pair) post(me int, c Conn, i item) {
	l := p.find(me, c)
	if l == nil {
		p.violated("%d writes %v on a forgotten connection", me, i)
		return
	}
	p.say("%d %s: %v", me, l.name(), i)
	if !l.closed[1-me] {
		l.queue[1-me] = append(l.queue[1-me], i)
	}
}

// drop closes one end of a link: the other end reads the items that were sent before, and then the
// end.
func (p *pair) drop(me int, c Conn) {
	l := p.find(me, c)
	if l == nil || l.closed[me] {
		return
	}
	p.say("%d drops %s", me, l.name())
	l.closed[me], l.queue[me] = true, nil
	if l.up && !l.closed[1-me] {
		l.queue[1-me] = append(l.queue[1-me], item{kind: "end"})
	}
	p.sweepLinks()
}

// sweepLinks forgets the links that neither end has open.
func (p *pair) sweepLinks() {
	p.links = slices.DeleteFunc(p.links, func(l *link) bool {
		acceptorOpen := l.up && !l.closed[1-l.dialer]
		return l.closed[l.dialer] && !acceptorOpen
	})
}

// connect ends a dial with success.
func (p *pair) connect(l *link) {
	l.up = true
	p.step(l.dialer, Dialed{Conn: l.conn[l.dialer]})
}

// refuse ends a dial with a failure.
func (p *pair) refuse(l *link) {
	l.closed[1-l.dialer] = true
	p.step(l.dialer, DialFailed{Conn: l.conn[l.dialer]})
}

// breakAt reports the link as broken to one end: the items in flight to that end are lost.
func (p *pair) breakAt(l *link, me int) {
	if l.closed[me] {
		return
	}
	l.queue[me] = nil
	if l.conn[me] == 0 { // no hello has arrived here: the host closes the link
		l.closed[me] = true
		p.sweepLinks()
		return
	}
	p.step(me, Broke{Conn: l.conn[me]})
	l.closed[me] = true
	p.sweepLinks()
}

// cut breaks a link: each direction keeps its first keep items and some bytes of the next item, and
// then ends.
func (p *pair) cut(l *link, keep, bytes int) {
	for me := range l.queue {
		if l.closed[me] {
			continue
		}
		if q := l.queue[me]; keep < len(q) {
			l.queue[me] = q[:keep:keep]
			if next := q[keep]; next.kind == "data" && bytes > 0 {
				next.to = min(next.to, next.from+uint64(bytes))
				l.queue[me] = append(l.queue[me], next)
			}
		}
		l.queue[me] = append(l.queue[me], item{kind: "end"})
	}
}

// deliver gives an end the next item of a link, or only the first bytes of it.
func (p *pair) deliver(l *link, me, bytes int) {
	next := l.queue[me][0]
	if next.kind == "data" && bytes > 0 && next.from+uint64(bytes) < next.to {
		l.queue[me][0].from += uint64(bytes)
		next.to = next.from + uint64(bytes)
	} else {
		l.queue[me] = l.queue[me][1:]
	}
	p.arrive(l, me, next)
}

func (p *pair) arrive(l *link, me int, i item) {
	c := l.conn[me]
	switch i.kind {
	case "hello":
		if l.dialer == me {
			p.step(me, Answered{Conn: c, Hello: i.hello})
			return
		}
		e := p.ends[me]
		e.accepted += 2
		l.conn[me] = e.accepted
		p.step(me, Incoming{Conn: e.accepted, Hello: i.hello})
	case "data":
		p.receive(me, c, i)
	case "ack":
		p.step(me, Acked{Conn: c, Taken: i.to})
	case "bye":
		p.step(me, Bye{Conn: c})
	case "bye-ack":
		p.step(me, ByeAck{Conn: c})
	case "end":
		p.breakAt(l, me)
	}
}

// receive is the host's side of I19: the host accepts bytes of the connection that the session
// calls current, and checks that each piece continues the stream.
func (p *pair) receive(me int, c Conn, i item) {
	e := p.ends[me]
	if c == 0 || e.s.Current() != c {
		return // bytes of a connection that does not count
	}
	if i.from != e.received {
		p.violated("%d has %d bytes, and gets %v", me, e.received, i)
	}
	e.received = i.to
	p.step(me, Arrived{Conn: c, Bytes: int(i.to - i.from)})
}

// take passes arrived bytes to the engine of one end.
func (p *pair) take(me, bytes int, ask bool) {
	p.ends[me].taken += uint64(bytes)
	p.step(me, Taken{Bytes: bytes, Ask: ask})
}

func (e *end) waiting() int { return int(e.received - e.taken) }

// nextDeadline returns the earlier deadline of the two ends.
func (p *pair) nextDeadline() (mono.Time, bool) {
	first, some := mono.Time(0), false
	for _, e := range p.ends {
		if at, ok := e.s.Deadline(); ok && !e.mute && (!some || at < first) {
			first, some = at, true
		}
	}
	return first, some
}

// A road holds, for each end, whether its dials reach the other end.
type road [2]bool

// runQuietly runs without further faults until a moment: dials on an open road connect, others are
// refused (or hang, with vanish), everything arrives in order and is taken, and time passes only
// when nothing else is left to do. If no deadline is left before until, the clock jumps to until.
func (p *pair) runQuietly(until mono.Time, roads road) {
	for p.violation == nil {
		if p.moveOne(roads) {
			continue
		}
		at, ok := p.nextDeadline()
		if !ok || at > until {
			if at := p.now; at < until {
				p.now = until
			}
			return
		}
		p.now = max(p.now, at)
		for me := range p.ends {
			p.tick(me)
		}
	}
}

// hearAsk delivers the peer's Ask to an end.
func (p *pair) hearAsk(me int) {
	p.say("%d is asked", me)
	p.ends[1-me].asks = false
	p.step(me, Asked{})
}

func (p *pair) moveOne(roads road) bool {
	for _, l := range p.links {
		if !l.up && !l.closed[l.dialer] {
			switch {
			case roads[l.dialer]:
				p.connect(l)
			case p.vanish:
				continue
			default:
				p.refuse(l)
			}
			return true
		}
		for me := range l.queue {
			if len(l.queue[me]) > 0 && !l.closed[me] {
				p.deliver(l, me, 0)
				return true
			}
		}
	}
	for me := range p.ends {
		if p.ends[1-me].asks {
			p.hearAsk(me)
			return true
		}
	}
	for me, e := range p.ends {
		if n := e.waiting(); n > 0 {
			p.take(me, n, false)
			p.step(me, Sweep{})
			return true
		}
	}
	return false
}

// meet reports whether both ends have the same connection open.
func (p *pair) meet() bool {
	a, b := p.ends[0].s.Current(), p.ends[1].s.Current()
	return a != 0 && b != 0 && p.find(0, a) == p.find(1, b)
}
