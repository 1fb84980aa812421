package nodes

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/session"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// cable is a connection of a lane. Side 0 dialed it.
type cable struct {
	ends    [2]*laneEnd
	conn    [2]session.Conn // the connection's name at each end; 0 at side 1 until a hello has come
	up      bool            // the connection is established
	broken  bool            // carries nothing any more
	closed  [2]bool         // by side: this end has closed the connection
	flight  [2][]item       // on its way to each side
	arrived [2][]item       // in the kernel of each side
	latest  [2]mono.Time    // arrival
}

type itemKind uint8

const (
	helloItem itemKind = iota
	dataItem
	ackItem
	byeItem
	byeAckItem
	endItem
)

// item is a hello, a piece of a stream, or one of the marks.
type item struct {
	kind  itemKind
	hello session.Hello
	data  []byte
	to    uint64 // of an acknowledgement
}

func (e *laneEnd) dial(conn session.Conn) {
	r := e.me.run
	c := &cable{ends: [2]*laneEnd{e, e.peer.lanes[e.me.proc]}, conn: [2]session.Conn{conn}}
	e.cables[conn] = c
	r.cables = append(r.cables, c)
	r.plan(r.delay(r.draw(forDial, e.name())), c.connect)
}

// connect completes a dial, or fails if no process listens. The dial waits for the end of a cut, or
// for a machine that is paused.
func (c *cable) connect() {
	from, to := c.ends[0].me, c.ends[1].me
	r := from.run
	switch {
	case c.closed[0]:
	case r.net.cut(from.station, to.station):
		r.net.whenWhole(from.station, to.station, c.connect)
	case r.net.cut(to.station, from.station):
		r.net.whenWhole(to.station, from.station, c.connect)
	case to.station.off:
	case to.station.paused > 0:
		to.station.queued = append(to.station.queued, c.connect)
	case to.ended():
		from.happen(func() { c.ends[0].step(session.DialFailed{Conn: c.conn[0]}) })
	default:
		c.up = true
		from.happen(func() {
			if !c.closed[0] {
				c.ends[0].step(session.Dialed{Conn: c.conn[0]})
			}
		})
	}
}

func (c *cable) sideOf(e *laneEnd) int {
	if c.ends[0] == e {
		return 0
	}
	return 1
}

// post sends an item to the other side, behind all earlier items.
func (c *cable) post(e *laneEnd, i item) {
	to := 1 - c.sideOf(e)
	if c.broken || c.closed[to] || !c.up {
		return
	}
	c.put(to, i, 0)
}

// put schedules the arrival of an item at a side, after a message delay and more.
func (c *cable) put(side int, i item, more mono.Duration) {
	r := c.ends[side].me.run
	c.flight[side] = append(c.flight[side], i)
	at := r.now.Add(r.delay(r.draw(forCable, c.ends[1-side].name())) + more)
	c.latest[side] = max(c.latest[side]+1, at)
	r.agenda.Plan(c.latest[side], func() { c.arrive(side) })
}

// arrive moves the next item into the kernel of a side. The item waits for the end of a cut, or for
// a machine that is paused.
func (c *cable) arrive(side int) {
	from, to := c.ends[1-side].me.station, c.ends[side].me
	r := to.run
	switch {
	case len(c.flight[side]) == 0, c.closed[side], to.station.off: // the item was lost, or the receiver is gone
	case r.net.cut(from, to.station):
		r.net.whenWhole(from, to.station, func() { c.arrive(side) })
	case to.station.paused > 0:
		to.station.queued = append(to.station.queued, func() { c.arrive(side) })
	default:
		c.arrived[side] = append(c.arrived[side], c.flight[side][0])
		c.flight[side] = c.flight[side][1:]
		to.happen(func() { c.hear(side) })
	}
}

// hear passes all items in its kernel to an end.
func (c *cable) hear(side int) {
	e := c.ends[side]
	for len(c.arrived[side]) > 0 && !e.me.ended() && !c.closed[side] {
		if e.me.stands() {
			e.me.backlog = append(e.me.backlog, func() { c.hear(side) })
			return
		}
		i := c.arrived[side][0]
		c.arrived[side] = c.arrived[side][1:]
		c.take(side, i)
	}
}

func (c *cable) take(side int, i item) {
	e, conn := c.ends[side], c.conn[side]
	switch i.kind {
	case helloItem:
		if side == 0 {
			e.step(session.Answered{Conn: conn, Hello: i.hello})
			return
		}
		e.accepted += 2
		c.conn[1] = e.accepted
		e.cables[e.accepted] = c
		e.step(session.Incoming{Conn: e.accepted, Hello: i.hello})
	case dataItem:
		e.receive(conn, i.data)
	case ackItem:
		e.step(session.Acked{Conn: conn, Taken: i.to})
	case byeItem:
		e.step(session.Bye{Conn: conn})
	case byeAckItem:
		e.step(session.ByeAck{Conn: conn})
	case endItem:
		if conn != 0 {
			e.step(session.Broke{Conn: conn})
		}
		c.shut(side)
	}
}

// drop closes a connection at one end: the other end reads the items sent before, and then the end.
func (e *laneEnd) drop(conn session.Conn) {
	if c := e.cables[conn]; c != nil {
		c.drop(c.sideOf(e))
	}
}

func (c *cable) drop(side int) {
	if c.closed[side] {
		return
	}
	c.shut(side)
	if other := 1 - side; c.up && !c.broken && !c.closed[other] {
		c.put(other, item{kind: endItem}, 0)
	}
}

// shut closes a side.
func (c *cable) shut(side int) {
	c.closed[side], c.arrived[side], c.flight[side] = true, nil, nil
	if c.closed[0] && (c.closed[1] || !c.up) {
		r := c.ends[0].me.run
		r.cables = slices.DeleteFunc(r.cables, func(x *cable) bool { return x == c })
	}
}

// forsake is the end of the process on a side. The kernel may discard the items that the process
// sent last. From a machine that is off nothing arrives any more.
func (c *cable) forsake(side int) {
	r, other := c.ends[side].me.run, 1-side
	if c.closed[side] {
		return
	}
	if c.up && !c.broken && !c.closed[other] {
		t := r.draw(forBreaking, c.ends[side].name())
		if t.Percent(50) {
			c.lose(other, t)
		}
		if !c.ends[side].me.station.off {
			c.put(other, item{kind: endItem}, 0)
		}
	}
	c.broken = true
	c.shut(side)
}

// breakApart ends a connection in the middle. Of the items on the way only the first ones survive,
// and each end learns of the break at a time of its own.
func (c *cable) breakApart() {
	r := c.ends[0].me.run
	if c.broken || !c.up {
		return
	}
	r.report.Broken++
	r.trace("", "a connection of %d and %d breaks", c.ends[0].me.proc, c.ends[1].me.proc)
	for side := range c.ends {
		if c.closed[side] {
			continue
		}
		t := r.draw(forBreaking, c.ends[side].name())
		c.lose(side, t)
		c.put(side, item{kind: endItem}, t.Tail(r.setup.timeout()/20))
	}
	c.broken = true
}

// lose discards the items on the way to a side except the first ones. A part of the next item may
// survive, too.
func (c *cable) lose(side int, t *world.Tape) {
	keep := t.Below(len(c.flight[side]) + 1)
	if keep == len(c.flight[side]) {
		return
	}
	next := c.flight[side][keep]
	c.flight[side] = slices.Clone(c.flight[side][:keep])
	if next.kind == dataItem && len(next.data) > 1 {
		cut := t.Below(len(next.data))
		next.data = next.data[:cut:cut]
		c.flight[side] = append(c.flight[side], next)
	}
}

func (c *cable) String() string {
	return fmt.Sprintf("connection of %d and %d, up %v, broken %v, closed %v", c.ends[0].me.proc, c.ends[1].me.proc, c.up, c.broken, c.closed)
}
