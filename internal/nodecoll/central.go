package nodecoll

import "github.com/goulfm/goulfm/internal/segment"

// Central synchronizations are named by operation and step. All join the count of
// one; who completes it is the last, does what is to be done for all, and stores the
// release word: its name and who it was. The others wait for that word alone.
//
// The count word holds the name and how many have joined: the first to join puts
// the name there. So an operation that some members left because of a mismatch
// does not disturb the count of the next. Who comes to it even later finds a later
// name, at most leadMax operations later, and finds the mismatch, too. A member that
// dies before it joins, or between the last join and the release, leaves a
// synchronization that never completes.
const (
	releaserBits = 16
	refusedBit   = 1 << (releaserBits - 1) // see Refused
	releaserMask = refusedBit - 1
	joinedBits   = 16
	joinedMask   = 1<<joinedBits - 1
	stepBits     = 16
)

// name returns the name of the synchronization that this rank is at.
func (g *Group) name() uint64 {
	name := uint64(g.op) << stepBits
	if g.next == working {
		name += uint64(g.large.step)
	}
	return name
}

// introduce is done by member 0 before anything else: it clears the words with
// several writers of what an earlier group left, then says so. Others may have
// been waiting for that since before this Group was made.
func (g *Group) introduce() {
	segment.Store64(g.lines.word(countAt), 0)
	segment.Store64(g.lines.word(releaseAt), 0)
	segment.Store64(g.lines.word(introAt), g.members[0].base+1)
	g.announce(All)
}

// joinCount adds this rank to the count.
func (g *Group) joinCount() bool {
	if !g.introduced {
		if v := segment.Load64(g.lines.word(introAt)); v != g.members[0].base+1 {
			return g.wait(g.lines.word(introAt), v)
		}
		g.introduced = true
	}
	name := g.name()
	for {
		v := segment.Load64(g.lines.word(countAt))
		joined := uint64(1)
		switch ahead := (v>>joinedBits - name) << joinedBits >> joinedBits; {
		case ahead == 0:
			joined = v&joinedMask + 1
		case ahead <= uint64(g.leadMax()+1)<<stepBits: // the others are in a later operation
			g.phase = awaiting
			return true
		}
		if !segment.CompareAndSwap64(g.lines.word(countAt), v, name<<joinedBits|joined) {
			continue
		}
		if joined < uint64(len(g.members)) {
			g.phase = awaiting
			return true
		}
		g.last()
		return true
	}
}

// last goes on for all. Once in each operation it looks at all lines: that all
// mean the same operation, which later steps need not repeat.
func (g *Group) last() {
	if g.next == working && g.large.step > 0 {
		g.releaseAll()
		g.stepDone()
		return
	}
	g.cursor, g.phase = 0, seeing
}

func (g *Group) releaseAll() {
	if g.central {
		who := uint64(g.me)
		if g.refused {
			who |= refusedBit
		}
		segment.Publish64(g.lines.word(releaseAt), g.name()<<releaserBits|who)
		g.announce(All)
	}
}

// await waits for the release.
func (g *Group) await() bool {
	v := segment.Load64(g.lines.word(releaseAt))
	who := int(v & releaserMask)
	if (v>>releaserBits^g.name())<<releaserBits != 0 || who >= len(g.members) {
		return g.wait(g.lines.word(releaseAt), v)
	}
	g.safe = g.op - 1
	if g.next == working {
		g.stepDone()
		return true
	}
	if g.next == pulling {
		g.refused = v&refusedBit != 0
		g.finish()
		return true
	}
	if g.takes() {
		g.cursor, g.phase = 0, taking
		return true
	}
	if g.size > 0 {
		copy(g.dst, g.payload(who))
	}
	g.finish()
	return true
}
