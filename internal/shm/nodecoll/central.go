package nodecoll

import "github.com/goulfm/goulfm/internal/shm/segment"

// A centre is a synchronization of all members in which the last to arrive does the work for all. A
// rank that has to share its core runs once per operation, and only one member reads n lines.
//
// The name of a central synchronization consists of operation and step. All members join its count.
// The member that completes the count is the last: it does the work for all, and stores the release
// word, which holds the name and the last member. The others wait for this word alone.
//
//	members 0 and 2   publish a line, join the count, wait for the release word
//	member 1          publishes its line, joins the count: is the last
//	                  sees all lines, combines the payloads, copies the result
//	                  stores the release word
//	members 0 and 2   copy the result from member 1
//
// The count word holds the name and the number of joined members: the first to join stores the
// name. So an operation that some members left because of a mismatch does not disturb the count of
// the next. A member that arrives even later finds a later name, at most leadMax operations later,
// and finds the mismatch, too. If a member dies before it joins, or the last member dies between
// its join and the release, the synchronization never completes.
//
// An operation with whole payloads has one synchronization, a large reduction one for each step,
// and a pull one when each member has copied its blocks.
type centre struct {
	introduced bool // this group's words are initialized
	state      centreState
	number     int       // of the synchronization in the operation
	all        collector // of the last member
	who        int       // the last member, once it has released the others
	refused    bool      // the last member's result of a pull: see Refused
}

// A centreState is the progress of this member in the synchronization.
type centreState uint8

const (
	joining  centreState = iota
	checking             // is the last, and checks that all make the same call
	working              // is the last, works for all and releases them
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

// start starts an operation with whole payloads.
func (c *centre) start(g *Group, out []byte) {
	c.begin(0)
	g.enterThen(counting, out)
}

// begin begins a synchronization of the open operation.
func (c *centre) begin(number int) { c.state, c.number, c.all.cursor = joining, number, 0 }

// step lets the last member combine the payloads, and the others copy the result. If each member
// takes blocks of all payloads, the last member only releases the others.
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

// publishCombined writes the result of all payloads over the last member's own payload. Only the
// last member reads payloads, and it has read them.
func (c *centre) publishCombined(g *Group) {
	if g.dst != nil && g.size > 0 {
		c.all.combine(g)
	}
	if g.size > 0 {
		g.copier.Copy(g.payload(g.me), g.dst)
	}
}

// name returns the name of this rank's current synchronization.
func (c *centre) name(g *Group) uint64 { return uint64(g.op)<<stepBits + uint64(c.number) }

// introduce is the first step of member 0. It clears the values of an earlier group from the words
// with several writers, and then publishes this. Other members may have been waiting since before
// this Group was made.
func (c *centre) introduce(g *Group) {
	segment.Store64(g.lines.word(countAt), 0)
	segment.Store64(g.lines.word(releaseAt), 0)
	segment.Store64(g.lines.word(introAt), g.members[0].base+1)
	g.announce(All)
}

// meet reports whether the synchronization is complete: for the last member, when all have joined;
// for the others, when the last has released them. Once meet has returned true at the last member,
// that member must release the others: see isLast.
//
// Once in each operation the last member reads all lines and checks that all make the same call;
// later steps need not repeat this. A released member knows that all have arrived.
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

// isLast reports, after meet has returned true, whether this member works for all.
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

// release publishes that the last member, which is this member, is done. refused is the result of a
// pull for the others.
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
