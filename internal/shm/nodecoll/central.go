package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A centre is where all members meet when the last to arrive does the work for all: a rank
// that has to share its core runs once per operation, and nobody reads n lines but one.
//
// Central synchronizations are named by operation and step. All members join the count of
// one. The member that completes the count is the last: it does what is to be done for all,
// and stores the release word: the name and who it was. The others wait for that word alone.
//
//	members 0 and 2   publish a line, join the count, wait for the release word
//	member 1          publishes its line, joins the count: is the last
//	                  sees all lines, combines the payloads, copies the result
//	                  stores the release word
//	members 0 and 2   copy the result from member 1
//
// The count word holds the name and how many have joined: the first to join puts
// the name there. So an operation that some members left because of a mismatch
// does not disturb the count of the next. A member that comes to it even later finds a later
// name, at most leadMax operations later, and finds the mismatch, too. A member that
// dies before it joins, or between the last join and the release, leaves a
// synchronization that never completes.
//
// A whole payload has one synchronization, a large reduction one for each step, and a pull
// one when each member has copied what it needs.
type centre struct {
	introduced bool // this group's words are there
	state      centreState
	number     int       // of the synchronization in the operation
	all        collector // of the last member
	who        int       // the last member, once it has released the others
	refused    bool      // what it said of a pull: see Refused
}

// A centreState is where this member stands in the synchronization.
type centreState uint8

const (
	joining  centreState = iota
	checking             // is the last, and checks that all mean the same operation
	working              // is the last, which works for all and releases them
	awaiting             // waits for the release
)

const (
	releaserBits = 16
	refusedBit   = 1 << (releaserBits - 1) // see Refused
	releaserMask = refusedBit - 1
	joinedBits   = 16
	joinedMask   = 1<<joinedBits - 1
	stepBits     = 16
)

// start starts an operation whose payloads go whole.
func (c *centre) start(g *Group, out []byte) {
	c.begin(0)
	g.enterThen(counting, out)
}

// begin begins a synchronization of the open operation.
func (c *centre) begin(number int) { c.state, c.number, c.all.cursor = joining, number, 0 }

// step has the last member combine the payloads, and the others copy the result. Where each
// takes blocks of all payloads the last does no more than release the others.
func (c *centre) step(g *Group) bool {
	if !c.meet(g) {
		return false
	}
	switch {
	case g.verb.takesBlocks():
		if c.isLast() {
			c.release(g, false)
		}
		g.taker.start(g)
		return true
	case c.isLast():
		c.publishCombined(g)
		c.release(g, false)
	case g.size > 0:
		copy(g.dst, g.payload(c.who))
	}
	g.endOperation()
	return true
}

// publishCombined writes the result of all payloads over the last member's own: it alone
// reads payloads, and has.
func (c *centre) publishCombined(g *Group) {
	if g.dst != nil && g.size > 0 {
		c.all.combine(g)
	}
	if g.size > 0 {
		g.copier.Copy(g.payload(g.me), g.dst)
	}
}

// name returns the name of the synchronization that this rank is at.
func (c *centre) name(g *Group) uint64 { return uint64(g.op)<<stepBits + uint64(c.number) }

// introduce is done by member 0 before anything else: it clears the words with
// several writers of what an earlier group left, then says so. Others may have
// been waiting for that since before this Group was made.
func (c *centre) introduce(g *Group) {
	segment.Store64(g.lines.word(countAt), 0)
	segment.Store64(g.lines.word(releaseAt), 0)
	segment.Store64(g.lines.word(introAt), g.members[0].base+1)
	g.announce(All)
}

// meet says whether all members have joined and, to the others, whether the last has released
// them. The last one has to do that once meet has said true to it: see isLast.
//
// Once in each operation the last one looks at all lines: that all mean the same operation,
// which later steps need not repeat. A member that is released knows that all have arrived.
func (c *centre) meet(g *Group) bool {
	if c.state == joining && !c.joinCount(g) {
		return false
	}
	switch c.state {
	case checking:
		if !c.all.seeAll(g) {
			return false
		}
		c.state = working
	case awaiting:
		v := segment.Load64(g.lines.word(releaseAt))
		who := int(v & releaserMask)
		if (v>>releaserBits^c.name(g))<<releaserBits != 0 || who >= len(g.members) {
			return g.waitOn(g.lines.word(releaseAt), v)
		}
		g.safe = g.op - 1
		c.who, c.refused = who, v&refusedBit != 0
	}
	return true
}

// isLast says, where meet has said true, whether this member works for all.
func (c *centre) isLast() bool { return c.state == working }

// joinCount adds this rank to the count.
func (c *centre) joinCount(g *Group) bool {
	if !c.introduced {
		if v := segment.Load64(g.lines.word(introAt)); v != g.members[0].base+1 {
			return g.waitOn(g.lines.word(introAt), v)
		}
		c.introduced = true
	}
	name := c.name(g)
	for {
		v := segment.Load64(g.lines.word(countAt))
		joined := uint64(1)
		switch ahead := (v>>joinedBits - name) << joinedBits >> joinedBits; {
		case ahead == 0:
			joined = v&joinedMask + 1
		case ahead <= uint64(g.leadMax()+1)<<stepBits: // the others are in a later operation
			c.state = awaiting
			return true
		}
		if !segment.CompareAndSwap64(g.lines.word(countAt), v, name<<joinedBits|joined) {
			continue
		}
		switch {
		case joined < uint64(len(g.members)):
			c.state = awaiting
		case c.number > 0:
			c.state = working
		default:
			c.state = checking
		}
		return true
	}
}

// release tells the others that the last member, which this is, is done; refused is what
// they are to hear of a pull.
func (c *centre) release(g *Group, refused bool) {
	who := uint64(g.me)
	if refused {
		who |= refusedBit
	}
	segment.Publish64(g.lines.word(releaseAt), c.name(g)<<releaserBits|who)
	g.announce(All)
}

func (c *centre) waitsFor(g *Group, m int) bool {
	if c.state == joining {
		return m == 0 && !c.introduced
	}
	return !g.isHere(m)
}
