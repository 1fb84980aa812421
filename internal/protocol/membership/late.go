package membership

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// Nodes that come late. A job may have rows for more nodes than it begins with. Who is not there
// takes no part in anything. The launcher, which is head for ever, decides that one comes, as it
// decides that one is dead; each row is taken once, so a dead member stays dead.
//
//	launcher                 late member               others
//	Came: grants begin
//	where all are       ──▶  begins, without a lease
//	                    ◀──  beat
//	grant               ──▶  may run
//	                         heartbeats           ──▶  drop them: not known yet
//	it is there         ──▶                       ──▶  Came: the ring runs through it
//
// The launcher has it first, for what it does not know it does not grant; and the member begins
// before the others have it, for they expect heartbeats from then on. Without a lease, for the
// first lease of those with which the job begins counts from a start at which the head has begun to
// count, too:
//
//	launcher: Came at 0, counts a grant at 0     late member: begins at 400, runs until 900 without a grant
//	          hears nothing of it, declares it at 510

// absentees are the members that are not there yet.
type absentees struct{ rankset.Set }

// leaveOut has a new roster leave them out. What the ring would say needs not be said: all leave
// out the same, or are told.
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
	if r.head != nil {
		r.head.meet(member, r)
	}
	r.stepRing(fd.Came{Rank: member})
}

// meet counts from now on what a member is granted, and how long it is silent.
func (h *head) meet(member int, r *Roster) {
	h.peers[member].granted, h.peers[member].counted = r.now, r.now
}
