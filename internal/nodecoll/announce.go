package nodecoll

// All is the Audience of what every member may wait for.
const All = -1

const nobody = -2

// Moved says whether this member has published something since the last call
// that a sleeping member may wait for. Whoever asks whether that one sleeps makes a
// publish.Fence first, or that one makes a publish.FenceAll before it looks for the last
// time: what was published may not be seen yet.
func (g *Group) Moved() bool {
	moved := g.moved
	g.moved = false
	return moved
}

// Audience returns, after Moved has said true, the only member that may wait for
// what was published, or All. To wake everybody whatever it says is right, but
// where ranks outnumber cores it is what most of the time would go into.
func (g *Group) Audience() int { return g.audience }

func (g *Group) announce(to int) {
	switch {
	case to == nobody:
	case g.moved && g.audience != to:
		g.audience = All
	default:
		g.moved, g.audience = true, to
	}
}

// announceArrival announces this member's arrival line.
//
// Besides who needs it for the operation itself, somebody may wait for it in clear, in a
// later operation. That needs one announcement to all among as many operations as it can
// be ahead in that operation, this one included: so it wakes in time. There are not many
// more, because whoever is woken takes a turn, and makes few operations in it. Nor are
// there fewer if this member cannot enter an operation:
//
//	op       1        2 ... 9               10: an allgather, of 8 slots
//	0 and 1  barrier  scans, not announced  wait in clear for each other's line of 3
//
// Whoever completes an operation in which all wait for all knows of all arrivals.
func (g *Group) announceArrival() {
	to := g.arrivalFor()
	if g.op-g.announcedOp >= g.payloadReach()/2 {
		to = All
	}
	if to == All {
		g.announcedOp = g.op
	}
	g.announce(to)
}

// announceWait announces what was not when this member has to wait in clear: another may
// wait there for the same operation.
func (g *Group) announceWait() {
	if g.op-g.announcedOp >= g.payloadReach() {
		g.announcedOp = g.op - 1
		g.announce(All)
	}
}

// runsAhead says whether members may leave this operation before all have
// entered it.
func (g *Group) runsAhead() bool {
	switch g.next {
	case idle, reading, chaining, passing, filling, draining:
		return true
	}
	return g.root == g.me
}

// arrivalFor returns who needs this member's arrival for the operation itself.
func (g *Group) arrivalFor() int {
	switch g.next {
	case idle: // root of a broadcast or a scatter, or not the root of a reduction or a gather
		if g.root == g.me {
			return All
		}
		return g.root
	case counting, chaining:
		return nobody
	case reading:
		if !g.wide() {
			return nobody
		}
		return g.root // who may wait for room: there is some for two payloads, or a few
	case draining:
		return g.root
	case pulling:
		if g.verb == scatter && g.root != g.me {
			return nobody
		}
	case seeing:
		if g.root == g.me { // root of a reduction or a gather
			return nobody
		}
	case working: // whose area was read may wait until all have left that operation
		if g.central && g.announcedOp > g.areaOp {
			return nobody
		}
	}
	return All
}
