package nodecoll

// All is the Audience of what every member may wait for.
const All = -1

const nobody = -2

// An announcer collects for whom this member has published something, until the caller asks
// with Moved.
type announcer struct {
	moved       bool
	audience    int   // of what moved: a member, or All
	announcedOp int64 // the last operation in which the arrival was announced to all
}

func (a *announcer) announce(to int) {
	switch {
	case to == nobody:
	case a.moved && a.audience != to:
		a.audience = All
	default:
		a.moved, a.audience = true, to
	}
}

// Moved says whether this member has published something since the last call
// that a sleeping member may wait for. A caller that then asks whether that member sleeps makes
// a publish.Fence first, or the sleeper makes a publish.FenceAll before it looks for the last
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

// announceArrival announces this member's arrival line.
//
// Besides those that need the line for the operation itself, another member may wait for it in
// mayOverwrite, in a later operation. That needs one announcement to all among as many
// operations as the other can be ahead in that operation, this one included: so it wakes in
// time. There are not many more, because a member that is woken takes a time slice, and makes few
// operations in it. Nor are there fewer if this member cannot enter an operation:
//
//	op       1        2 ... 5               6: an allgather, of 4 slots
//	0 and 1  barrier  scans, not announced  wait in mayOverwrite for each other's line of 3
//
// A member that completes an operation in which all wait for all knows of all arrivals.
func (g *Group) announceArrival() {
	to := g.arrivalAudience()
	if g.op-g.announcedOp >= g.payloadDistance()/2 {
		to = All
	}
	if to == All {
		g.announcedOp = g.op
	}
	g.announce(to)
}

// announceWait announces the arrivals that were not announced, when this member has to wait in
// mayOverwrite: another may wait there for the same operation.
func (g *Group) announceWait() {
	if g.op-g.announcedOp >= g.payloadDistance() {
		g.announcedOp = g.op - 1
		g.announce(All)
	}
}

// runsAhead says whether members may leave this operation before all have
// entered it.
func (g *Group) runsAhead() bool {
	switch g.next {
	case idle, reading, chaining, passing, streaming:
		return true
	}
	return g.root == g.me
}

// arrivalAudience returns who needs this member's arrival for the operation itself.
func (g *Group) arrivalAudience() int {
	switch g.next {
	case idle: // root of a broadcast or a scatter, or not the root of a reduction or a gather
		if g.root == g.me {
			return All
		}
		return g.root
	case counting, chaining:
		return nobody
	case reading:
		if !g.isWide() {
			return nobody
		}
		return g.root // which may wait for room: there is some for two payloads, or a few
	case streaming:
		if g.root != g.me {
			return g.root
		}
	case pulling:
		if g.verb == scatter && g.root != g.me {
			return nobody
		}
	case collecting:
		if g.root == g.me { // root of a reduction or a gather
			return nobody
		}
	case reducing: // a member whose area was read may wait until all have left that operation
		if g.central && g.announcedOp > g.area.anyOp {
			return nobody
		}
	}
	return All
}
