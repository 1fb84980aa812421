package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A member's arrival line says that it has entered an operation, with which call, and
// carries its payload, or says where that is. This is how the line is written, and how the
// lines of other members are read.

// enterOperation publishes the arrival line, as soon as everybody has left the operation
// whose slot it takes.
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

// entrance is the algorithm of the phase entering. It has no state but the open operation.
type entrance struct{}

func (entrance) step(g *Group) bool { return g.enterOperation() }

// waitsFor reports whether member m may still read the memory that the arrival line takes.
func (entrance) waitsFor(g *Group, m int) bool {
	last := g.lastUse()
	if g.sharedOp <= last && m != g.me+1 {
		last = g.sharedOp
	}
	return max(g.members[m].left, g.safe) < last
}

// lastUse returns the last operation in which others may read the memory that this one
// takes.
func (g *Group) lastUse() int64 {
	last := g.op - g.reuseDistance()
	if g.out == nil || !g.isWide() {
		return last
	}
	last = max(last, g.op-int64(sharedAreaBytes/g.size), g.area.ringOp, g.area.reductionOp, g.broken)
	if g.area.wideSize != g.size { // what stands there lies across several of these
		last = max(last, g.area.wideOp)
	}
	return last
}

// reuseDistance returns how many operations ago the line and the slot were used that this
// operation takes.
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
	} else { // in a row of chains somebody may look at the line: see hasOtherCall
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

// publishParts publishes, for an operation that has a part for each member, all but this
// member's own, which nobody takes: those behind it stand at next.
func (g *Group) publishParts(to []byte, next int, parts []byte) {
	own := g.me * g.part
	g.copier.Copy(to[:own], parts[:own])
	g.copier.Copy(to[next:], parts[own+g.part:])
}

// publishResult publishes this member's result line: what it has for others once it has got
// what it needed. Its payload stands there already.
func (g *Group) publishResult() {
	at := g.lines.result(g.me, g.op)
	segment.Put64(g.lines.whatWord(at), g.what)
	segment.Publish64(g.lines.word(at), g.members[g.me].base+uint64(g.op))
	segment.Soon(g.lines.word(g.lines.result(g.me, g.op+linesAhead)))
}

// linesAhead is how far ahead a member asks for its line: the others do not look at it
// before it is there.
const linesAhead = 4

// hasArrived says whether member m has entered the operation, and with the same
// call; if not, the operation waits, or is broken.
func (g *Group) hasArrived(m int) bool { return g.hasCome(m, g.lines.arrival(m, g.op)) }

// hasCome says whether a line of member m, its arrival or its result, has come to this
// operation.
func (g *Group) hasCome(m, at int) bool {
	word := g.lines.word(at)
	if v := segment.Load64(word); v != g.members[m].base+uint64(g.op) {
		return g.waitOn(word, v)
	}
	return g.compareCall(m, at)
}

// compareCall says whether the call of member m, whose line is there, is this one's.
func (g *Group) compareCall(m, at int) bool {
	what := g.lines.what(at)
	if what != g.what {
		g.breakOperation(m, what)
	}
	return what == g.what
}

// breakOperation notes that member m has come to this operation with another call.
func (g *Group) breakOperation(m int, theirs uint64) {
	g.mismatch, g.waiting = mismatch{bad: true, member: m, theirs: theirs}, nil
}
