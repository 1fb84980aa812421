package nodecoll

import "github.com/goulfm/goulfm/internal/segment"

// Central synchronization number c of a group: all add 1 to the count; who makes
// it n*c is the last, does what is to be done for all, and stores the release
// word: c and who it was. The others wait for that word alone.
//
// The count says n*c only when all have added c times, because nobody adds for
// c+1 before the release of c. A member that dies before it adds, or between its
// last add and the release, leaves a synchronization that never completes.
const (
	releaserBits = 16
	releaserMask = 1<<releaserBits - 1
)

// introduce is done by member 0 before anything else: it clears the words with
// several writers of what an earlier group left, then says so. Others may have
// been waiting for that since before this Group was made.
func (g *Group) introduce() {
	segment.Store64(g.count, 0)
	segment.Store64(g.release, 0)
	segment.Store64(g.intro, g.members[0].base+1)
	g.announce(All)
}

// joinCount adds this rank to the count.
func (g *Group) joinCount() bool {
	if !g.introduced {
		if v := segment.Load64(g.intro); v != g.members[0].base+1 {
			return g.wait(g.intro, v)
		}
		g.introduced = true
	}
	g.syncs++
	if segment.Add64(g.count, 1) != g.syncs*uint64(len(g.members)) {
		g.phase = awaiting
		return true
	}
	g.last()
	return true
}

// last goes on for all. Once in each operation it looks at all lines: that all
// mean the same operation, which later steps need not repeat.
func (g *Group) last() {
	if g.next == working && g.large.step > 0 {
		g.releaseAll()
		g.stepDone()
		return
	}
	g.cursor, g.phase = 0, gathering
}

func (g *Group) releaseAll() {
	if g.central {
		segment.Store64(g.release, g.syncs<<releaserBits|uint64(g.me))
		g.announce(All)
	}
}

// await waits for the release.
func (g *Group) await() bool {
	v := segment.Load64(g.release)
	who := int(v & releaserMask)
	if v>>releaserBits != g.syncs || who >= len(g.members) {
		return g.wait(g.release, v)
	}
	g.safe = g.op - 1
	if g.next == working {
		g.stepDone()
		return true
	}
	if g.size > 0 {
		copy(g.dst, g.payload(who))
	}
	g.finish()
	return true
}
