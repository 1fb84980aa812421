package membership

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Nodes that come late. A job may have rows for more nodes than it begins with. An absent node
// takes no part in anything. The launcher, which is the coordinator for ever, decides that a node
// comes, as it decides that a node is dead; each row is taken once, so a dead member stays dead.
//
//	launcher                 late member               others
//	Came: grants begin
//	where all are       ──▶  begins, without a lease
//	                    ◀──  beat
//	grant               ──▶  may run
//	                         heartbeats           ──▶  drop them: not known yet
//	it is there         ──▶                       ──▶  Came: the ring runs through it
//
// The launcher learns of the member first, because a coordinator grants nothing to unknown members.
// The member begins before the others learn of it, because they expect heartbeats from then on. It
// begins without a lease: the first lease of the initial members counts from a start at which the
// coordinator has begun to count, too:
//
//	launcher: Came at 0, counts a grant at 0     late member: begins at 400, may run until 900
//	          receives nothing from it, declares it at 510

// absentees are the members that are not there yet.
type absentees struct{ rankset.Set }

// leaveOut makes a new roster leave the absent members out. The ring's messages about that are
// dropped: all leave out the same members, or are notified.
func (a absentees) leaveOut(r *Roster) {
	if a.IsEmpty() {
		return
	}
	r.ring.Step(fd.Absent{Ranks: a.Clone()})
	for member := range a.All() {
		r.news.close(member)
	}
}

// takeIn has a roster take a member in.
func (a *absentees) takeIn(r *Roster, member int) {
	if !a.Remove(member) {
		return
	}
	if !r.isDead(member) {
		r.news.open(member)
	}
	if r.coordinator != nil {
		r.coordinator.meet(member, r)
	}
	r.stepRing(fd.Came{Rank: member})
}

// meet counts a member's grants and its silence from now on.
func (h *coordinator) meet(member int, r *Roster) {
	h.peers[member].granted, h.peers[member].counted = r.now, r.now
}
