package sim

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/ulfm"
)

// What draw is asked for; others are below.
const (
	drawGathers = 100 + iota
	drawMembers
)

// seriesGather numbers the creations from a group on one communicator, as the plan
// does: members of one group have no numbers of their own for them.
const seriesGather ulfm.Series = 100

// gathers is how far a member has come with the creations from a group of a plan.
type gathers struct {
	next int // of the plan: those before are made, or not this member's
	open int // not answered
}

// gathering returns the members, as processes, of the next creation from a group that
// this one is in, or nil; it steps over others'.
func (g *program) gathering(h *handle) []int {
	for ; h.gathers.next < h.plan.gathers; h.gathers.next++ {
		if members := g.sim.membersOf(h.group, h.gathers.next); slices.Contains(members, g.me.id) {
			return members
		}
	}
	return nil
}

// membersOf draws a group for the k-th creation on a communicator.
func (s *simulation) membersOf(group ulfm.Group, k int) []int {
	bits := s.draw(group.UID, drawMembers, k)
	var members []int
	for rank, proc := range group.Procs {
		if bits>>(rank%48)&1 == 1 {
			members = append(members, proc)
		}
	}
	if bits>>50&1 == 1 {
		slices.Reverse(members)
	}
	return members
}

func (g *program) gather(h *handle, members []int) {
	k := h.gathers.next
	h.gathers.next++
	h.gathers.open++
	ev := control.Propose{Call: ulfm.Call{Kind: ulfm.KindCreateGroup}, Members: slices.Clone(members), Tag: k % 2}
	g.make(call{handle: h, call: ev.Call, seq: k, members: members}, ev)
}

func (c call) gatherKey() agreementKey { return agreementKey{c.key, seriesGather, uint64(c.seq)} }

// gathers notes that a member makes a creation from a group.
func (k *checker) gathers(c call) {
	a := k.agreements[c.gatherKey()]
	if a == nil {
		a = &agreement{group: ulfm.Group{Procs: c.members}}
		k.agreements[c.gatherKey()] = a
	}
	a.entered.Add(c.group.Procs[c.group.Me])
}

// gathered checks the answer of a creation from a group (R57): it is one for all who
// live, but for a revocation; a communicator takes every member, a failure the death
// of one.
func (k *checker) gathered(p *process, c call, out ulfm.Outcome) {
	key := c.gatherKey()
	if errors.Is(out.Err, ulfm.ErrRevoked) {
		k.givenUp(p, key)
		return
	}
	a := k.agreements[key]
	k.agree(p, key, a, out)
	switch {
	case out.New != nil:
		for _, q := range c.members {
			if !a.entered.Has(q) {
				k.sim.fail("I3", "process %d has a communicator of %v, and %d has not called", p.id, c.members, q)
			}
		}
		k.group(p, key, c, out)
	case !errors.Is(out.Err, ulfm.ErrProcFailed):
		k.sim.fail("R57", "process %d gathers %v and gets %v", p.id, c.members, out.Err)
	case !slices.ContainsFunc(c.members, k.dead[p.id].Has):
		k.sim.fail("R31", "process %d gathers %v and gets %v, and was told of no death among them", p.id, c.members, out.Err)
	}
}
