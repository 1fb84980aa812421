package nodes

import (
	"encoding/binary"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/session"
)

// laneEnd is one end of a lane between two ranks of different nodes, as the session and its host
// see the lane. A frame is its length (u32) and its number (u64) before its bytes.
type laneEnd struct {
	me, peer *nodeRank
	s        *session.Session
	cables   map[session.Conn]*cable // looked up, never ranged over
	accepted session.Conn            // the last accepted one
	alarms   int                     // number of the last plan that wakes the session
	sweeps   bool                    // a Sweep is scheduled

	out     []byte // this side's stream from base on: the unacknowledged bytes
	base    uint64
	cursor  uint64   // the next byte to write on the open connection
	waiting [][]byte // frames that lack room
	sent    uint64   // number of the last frame

	in        []byte // bytes that have arrived and do not complete a frame
	heard     uint64 // number of the last received frame
	closing   bool   // no further frame is sent
	closed    bool
	complains bool
}

const laneHead = 12

func newLaneEnd(me, peer *nodeRank) *laneEnd {
	who := func(p *nodeRank) session.Identity {
		return session.Identity{Number: uint32(p.proc), Birth: uint64(1000 + p.proc)}
	}
	cfg := session.Config{Job: 7, Me: who(me), Peer: who(peer), Copied: me.run.setup.copied}
	return &laneEnd{me: me, peer: peer, s: session.New(cfg), cables: map[session.Conn]*cable{}}
}

// step passes an event to the session, after the time, and executes its actions; nil: the time
// alone.
func (e *laneEnd) step(ev session.Event) {
	e.act(session.Tick{Now: e.me.station.local(e.me.run.now)})
	if ev != nil {
		e.act(ev)
	}
	e.fill()
	e.write()
	e.setAlarm()
}

func (e *laneEnd) act(ev session.Event) {
	if e.me.ended() {
		return
	}
	for _, a := range slices.Clone(e.s.Step(ev)) {
		if e.do(a); e.me.ended() {
			return
		}
	}
}

func (e *laneEnd) do(a session.Action) {
	r := e.me.run
	switch a := a.(type) {
	case session.Dial:
		e.dial(a.Conn)
	case session.Greet:
		e.cables[a.Conn].post(e, item{kind: helloItem, hello: a.Hello})
	case session.Answer:
		e.cables[a.Conn].post(e, item{kind: helloItem, hello: a.Hello})
	case session.Drop:
		e.drop(a.Conn)
	case session.Opened:
		r.report.Opened++
		e.cursor = a.From
		if a.From < e.base {
			r.fail("I19", "process %d is to write to %d again from byte %d, and has forgotten all before %d", e.me.proc, e.peer.proc, a.From, e.base)
			e.cursor = e.base
		}
	case session.Release:
		e.release(a.To)
	case session.WriteAck:
		e.write()
		e.cables[a.Conn].post(e, item{kind: ackItem, to: a.Taken})
	case session.WriteBye:
		e.cables[a.Conn].post(e, item{kind: byeItem})
	case session.WriteByeAck:
		e.cables[a.Conn].post(e, item{kind: byeAckItem})
	case session.Unreachable:
		e.complain(true)
	case session.Reachable:
		e.complain(false)
	case session.Fenced:
		e.me.fenced("so says a session")
	case session.Closed:
		e.isClosed(a)
	case session.Anomaly:
		r.fail("no anomaly", "the lane of process %d to %d: %s", e.me.proc, e.peer.proc, a.Text)
	}
}

func (e *laneEnd) release(to uint64) {
	if to < e.base || to > e.base+uint64(len(e.out)) {
		e.me.run.fail("I19", "process %d forgets what it sent to %d up to byte %d of %d to %d", e.me.proc, e.peer.proc, to, e.base, e.base+uint64(len(e.out)))
		return
	}
	e.out, e.base = e.out[to-e.base:], to
}

func (e *laneEnd) complain(so bool) {
	if so == e.complains {
		return
	}
	e.complains = so
	more := -1
	if so {
		more = 1
	}
	e.me.station.complain(e.peer.station, more)
}

// isClosed notes the end of the lane. No byte may be lost except with its peer. A peer that has
// left did not need the remaining bytes.
func (e *laneEnd) isClosed(a session.Closed) {
	e.closed, e.waiting = true, nil
	if a.Lost > 0 && !e.me.station.listed.Has(e.peer.proc) {
		e.me.run.fail("I19", "process %d has lost %d bytes to %d, which has not ended", e.me.proc, a.Lost, e.peer.proc)
	}
	e.me.run.plan(0, e.me.leaveIfParted)
}

// send puts a frame at the end of the stream.
func (e *laneEnd) send(frame []byte) {
	if e.closing || e.closed {
		return
	}
	e.sent++
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(frame)))
	b = binary.LittleEndian.AppendUint64(b, e.sent)
	e.waiting = append(e.waiting, append(b, frame...))
	e.step(nil)
}

// fill appends the waiting frames for which there is room.
func (e *laneEnd) fill() {
	for len(e.waiting) > 0 && !e.me.ended() {
		next := e.waiting[0]
		if copied, _ := e.s.Room(); copied < len(next) {
			return
		}
		e.waiting = e.waiting[1:]
		e.out = append(e.out, next...)
		e.act(session.Append{Copied: len(next)})
	}
}

// write writes the appended bytes that are not written yet to the open connection, in one piece or
// two.
func (e *laneEnd) write() {
	conn, end := e.s.Current(), e.base+uint64(len(e.out))
	if conn == 0 || e.cursor >= end || e.me.ended() {
		return
	}
	data := slices.Clone(e.out[e.cursor-e.base:])
	e.cursor = end
	if t := e.me.run.draw(forCable, e.name()); t.Percent(30) {
		cut := t.Below(len(data) + 1)
		e.cables[conn].post(e, item{kind: dataItem, data: data[:cut:cut]})
		data = data[cut:]
	}
	e.cables[conn].post(e, item{kind: dataItem, data: data})
}

// name returns the key by which choices about this direction are drawn.
func (e *laneEnd) name() int { return e.me.proc*len(e.me.run.ranks) + e.peer.proc }

// setAlarm wakes the session at its deadline.
func (e *laneEnd) setAlarm() {
	at, wants := e.s.Deadline()
	if !wants || e.me.ended() {
		return
	}
	e.alarms++
	mine := e.alarms
	e.me.run.agenda.Plan(max(e.me.station.real(at), e.me.run.now), func() {
		if mine == e.alarms {
			e.me.happen(func() { e.step(nil) })
		}
	})
}

// receive accepts bytes of a connection, if it is the open one, and processes the completed frames.
func (e *laneEnd) receive(conn session.Conn, data []byte) {
	if conn == 0 || e.s.Current() != conn {
		return
	}
	e.in = append(e.in, data...)
	e.step(session.Arrived{Conn: conn, Bytes: len(data)})
	e.hearFrames()
}

// hearFrames processes the complete frames. Each comes once and in order (I19).
func (e *laneEnd) hearFrames() {
	p := e.me
	for len(e.in) >= laneHead && !p.ended() && !e.closed {
		size := laneHead + int(binary.LittleEndian.Uint32(e.in))
		number := binary.LittleEndian.Uint64(e.in[4:])
		if number != e.heard+1 {
			p.run.fail("I19", "process %d has heard frame %d of %d, and gets frame %d", p.proc, e.heard, e.peer.proc, number)
			return
		}
		if len(e.in) < size {
			return
		}
		if p.stands() {
			p.backlog = append(p.backlog, e.hearFrames)
			return
		}
		frame := e.in[laneHead:size]
		e.in = e.in[size:]
		e.heard = number
		e.step(session.Taken{Bytes: size})
		e.sweepSoon()
		p.hear(e.peer.proc, frame)
	}
}

// sweepSoon acknowledges all processed frames after a while.
func (e *laneEnd) sweepSoon() {
	if e.sweeps {
		return
	}
	e.sweeps = true
	e.me.run.plan(e.me.run.setup.period/10, func() {
		e.sweeps = false
		e.me.happen(func() { e.step(session.Sweep{}) })
	})
}

// hearAll processes all that has arrived from the peer, whose end is in the list.
func (e *laneEnd) hearAll() {
	for _, c := range slices.Clone(e.me.run.cables) {
		for side := range c.ends {
			if c.ends[side] == e {
				c.hear(side)
			}
		}
	}
}

// peerEnded ends the lane: its peer is dead, or has left.
func (e *laneEnd) peerEnded(dead bool) { e.step(session.Gone{Dead: dead}) }

// close ends the lane when all bytes are processed on both sides.
func (e *laneEnd) close() {
	e.closing = true
	e.closeIfEmpty()
}

func (e *laneEnd) closeIfEmpty() {
	switch {
	case e.closed || e.me.ended():
	case len(e.waiting) > 0: // acknowledged bytes make room
		e.me.run.plan(mono.Millisecond, func() { e.me.happen(e.closeIfEmpty) })
	default:
		e.step(session.Close{})
	}
}

// abandon closes all connections, as the kernel does after the end of a process.
func (e *laneEnd) abandon() {
	e.complain(false)
	for _, c := range slices.Clone(e.me.run.cables) {
		for side := range c.ends {
			if c.ends[side] == e {
				c.forsake(side)
			}
		}
	}
}
