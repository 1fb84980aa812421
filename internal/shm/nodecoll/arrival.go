package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A member's arrival line shows that the member has entered an operation, and with which call. The
// line carries the payload or its place. This file writes the line and reads the lines of other
// members.

// enterOperation publishes the arrival line, as soon as all members have left the last operation
// that used the slot.
func (g *Group) enterOperation() bool {
	if !g.mayOverwrite(g.lastUse()) {
		g.announceWait()
		return false
	}
	if g.out != nil && g.isWide() {
		g.area.wideOp, g.area.wideSize = g.op, g.size
	}
	if g.next != chaining {
		g.sharedOp = g.op
	}
	g.publishArrival(g.out)
	g.announceArrival()
	g.phase = g.next
	if g.next == idle {
		if g.verb == scatter {
			copy(g.dst, g.src[g.me*g.part:])
		}
		g.endOperation()
	}
	return true
}

// entrance is the algorithm of the phase entering. Its only state is the open operation.
type entrance struct{}

func (entrance) step(g *Group) bool { return g.enterOperation() }

// waitsFor reports whether member m may still read the memory that the arrival line overwrites.
func (entrance) waitsFor(g *Group, m int) bool {
	last := g.lastUse()
	if g.sharedOp <= last && m != g.me+1 {
		last = g.sharedOp
	}
	return max(g.members[m].left, g.safe) < last
}

// lastUse returns the last operation in which others may read the memory that this operation
// overwrites.
func (g *Group) lastUse() int64 {
	last := g.op - g.reuseDistance()
	if g.out == nil || !g.isWide() {
		return last
	}
	last = max(last, g.op-int64(sharedAreaBytes/g.size), g.area.ringOp, g.area.reductionOp, g.broken)
	if g.area.wideSize != g.size { // an old payload there spans several new ones
		last = max(last, g.area.wideOp)
	}
	return last
}

// reuseDistance returns the number of operations since the last use of this operation's line and
// slot.
func (g *Group) reuseDistance() int64 {
	if g.out == nil && g.next != chaining {
		return slots
	}
	return g.payloadDistance()
}

// payloadDistance is reuseDistance of a member that has a payload.
func (g *Group) payloadDistance() int64 {
	switch {
	case g.size <= g.lines.inline || g.next.goesBySteps() || g.isWide():
		return slots
	case g.verb.meets():
		return metSlots
	case g.size <= shortBytes:
		return slots
	case g.size <= middleBytes:
		return middleSlots
	}
	return longSlots
}

// publishArrival writes the arrival line, its sequence word last.
func (g *Group) publishArrival(out []byte) {
	me := &g.members[g.me]
	at := g.lines.arrival(g.me, g.op)
	g.lines.arrivals.Reach(at)
	if g.safe >= g.op-slots {
		segment.Put64(g.lines.whatWord(at), g.what)
	} else { // in a row of chains another member may read the line: see hasOtherCall
		segment.Swap64(g.lines.word(at), me.base+uint64(g.op)|unfinished)
		segment.Publish64(g.lines.whatWord(at), g.what)
	}
	switch {
	case out != nil && g.size <= g.lines.inline && len(out) == g.size:
		segment.Copy(g.lines.body(at)[inlineAt:], out)
	case g.next.goesBySteps():
		segment.Put64(g.lines.payloadWord(at), g.steps)
		segment.Put64(g.lines.ringFirstWord(at), uint64(g.area.first))
	case g.next == pulling:
		segment.Put64(g.lines.payloadWord(at), segment.AddressOf(g.src))
	case out == nil:
	case g.verb == scatter && len(out) > g.size:
		g.publishParts(g.payload(g.me), g.partAt(g.me), out)
	case g.verb == alltoall && len(g.members) > 2:
		g.publishParts(g.slotOf(g.me), (g.me+1)*g.part, out)
	default:
		g.copier.Copy(g.slotOf(g.me), out)
	}
	segment.Publish64(g.lines.word(at), me.base+uint64(g.op))
	ahead := g.lines.arrival(g.me, g.op+linesAhead)
	segment.Soon(g.lines.word(ahead))
	if out != nil && g.size > segment.Line-headAt && g.size <= g.lines.inline {
		segment.Soon(g.lines.word(ahead + segment.Line))
	}
}

// publishParts publishes the parts of an operation that has a part for each member, except this
// member's own part, which no other member needs. The parts behind it are stored at next.
func (g *Group) publishParts(to []byte, next int, parts []byte) {
	own := g.me * g.part
	g.copier.Copy(to[:own], parts[:own])
	g.copier.Copy(to[next:], parts[own+g.part:])
}

// publishResult publishes this member's result line: its result for others after its input has
// arrived. The payload is stored there already.
func (g *Group) publishResult() {
	at := g.lines.result(g.me, g.op)
	segment.Put64(g.lines.whatWord(at), g.what)
	segment.Publish64(g.lines.word(at), g.members[g.me].base+uint64(g.op))
	segment.Soon(g.lines.word(g.lines.result(g.me, g.op+linesAhead)))
}

// linesAhead is the number of operations by which a member prefetches its own line. The others do
// not read the line before it is written.
const linesAhead = 4

// hasArrived reports whether member m has entered the operation with the same call. If not, the
// operation waits, or is broken.
func (g *Group) hasArrived(m int) bool { return g.hasCome(m, g.lines.arrival(m, g.op)) }

// hasCome reports whether a line of member m, its arrival or its result, belongs to this operation
// and has the same call.
func (g *Group) hasCome(m, at int) bool {
	word := g.lines.word(at)
	if v := segment.Load64(word); v != g.members[m].base+uint64(g.op) {
		return g.waitOn(word, v)
	}
	return g.compareCall(m, at)
}

// compareCall reports whether the call in the line of member m is this member's call.
func (g *Group) compareCall(m, at int) bool {
	what := g.lines.what(at)
	if what != g.what {
		g.breakOperation(m, what)
	}
	return what == g.what
}

// breakOperation notes that member m has entered this operation with another call.
func (g *Group) breakOperation(m int, theirs uint64) {
	g.mismatch, g.waiting = mismatch{bad: true, member: m, theirs: theirs}, nil
}
