package nodecoll

// All is the Audience if every member may wait for the published words.
const All = -1

const nobody = -2

// An announcer collects the members for which this member has published something, until the caller
// asks with Moved.
type announcer struct {
	moved       bool
	audience    int   // of the published words: a member, or All
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

// Moved reports whether this member has published something since the last call for which a
// sleeping member may wait. A caller that then checks whether a member sleeps must first make a
// publish.Fence, or the sleeper must make a publish.FenceAll before its last poll: otherwise the
// published words may not be visible yet.
func (g *Group) Moved() bool {
	moved := g.moved
	g.moved = false
	return moved
}

// Audience returns, after Moved has returned true, the only member that may wait for the published
// words, or All. A caller may always wake all members, but if ranks outnumber cores the wake-ups
// would cost most of the time.
func (g *Group) Audience() int { return g.audience }

// announceArrival announces this member's arrival line.
//
// Besides the members that need the line for the operation itself, another member may wait for the
// line in mayOverwrite, in a later operation. To wake this member in time, one announcement to all
// is needed in each span of operations by which the other can be ahead, the current operation
// included. More announcements would be costly, because a woken member takes a time slice and makes
// few operations in it. Fewer are not enough if this member cannot enter an operation:
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
// mayOverwrite: another member may wait there for the same operation.
func (g *Group) announceWait() {
	if g.op-g.announcedOp >= g.payloadDistance() {
		g.announcedOp = g.op - 1
		g.announce(All)
	}
}

// runsAhead reports whether members may leave this operation before all have entered it.
func (g *Group) runsAhead() bool {
	switch g.next {
	case idle, reading, chaining, passing, streaming:
		return true
	}
	return g.root == g.me
}

// arrivalAudience returns the members that need this member's arrival for the operation itself.
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
		return g.root // root may wait for room, which exists for two payloads or a few
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
