package cluster

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
	"github.com/goulfm/goulfm/ulfm"
)

// More purposes of draw; others are literals at the calls.
const (
	drawGathers = 100 + iota
	drawMembers
)

// seriesGather numbers the creations from a group on one communicator, as the plan does. The
// members of a group have no numbers of their own for them.
const seriesGather commstate.Series = 100

// gathers is the progress of a member through the creations from a group of a plan.
type gathers struct {
	next int // of the plan: those before are made, or are not for this member
	open int // not answered
}

// gathering returns the members, as processes, of the next creation from a group that includes this
// process, or nil. The creations of other groups are skipped.
func (g *program) gathering(h *handle) []int {
	for ; h.gathers.next < h.plan.gathers; h.gathers.next++ {
		members := g.membersOf(h, h.gathers.next)
		if slices.Contains(members, g.me.id) && !g.sim.part.skipped(h.name, opGather, h.gathers.next) {
			return members
		}
	}
	return nil
}

// rollOf draws a group for the k-th creation on a communicator, by the names of its members.
func (g *program) rollOf(h *handle, k int) []int {
	bits := g.sim.draw(h.name, drawMembers, k)
	var names []int
	for rank, name := range h.roll {
		if bits>>(rank%48)&1 == 1 {
			names = append(names, name)
		}
	}
	if bits>>50&1 == 1 {
		slices.Reverse(names)
	}
	return names
}

// membersOf returns the part of the drawn group that consists of members here.
func (g *program) membersOf(h *handle, k int) []int {
	var members []int
	for _, name := range g.rollOf(h, k) {
		for _, proc := range h.group.Procs {
			if g.sim.part.nameOf(proc) == name {
				members = append(members, proc)
			}
		}
	}
	return members
}

// gatheredName returns the name of the communicator that a creation from a group makes. The name
// depends on the number of earlier creations with the same group and tag.
func (g *program) gatheredName(c call) commstate.UID {
	same := func(k int) []int { return slices.Sorted(slices.Values(g.rollOf(c.handle, k))) }
	group, count := same(c.number), uint64(0)
	for k := range c.number {
		if k%2 == c.number%2 && slices.Equal(same(k), group) {
			count++
		}
	}
	hidden := commstate.GatheringUID(c.name, group, c.number%2, count)
	return commstate.ChildUID(hidden, commstate.KindCreateGroup, 1, 0)
}

func (g *program) gather(h *handle, members []int) {
	k := h.gathers.next
	g.notes(h, opGather, k)
	h.gathers.next++
	h.gathers.open++
	ev := control.Propose{Call: commstate.Call{Kind: commstate.KindCreateGroup}, Members: slices.Clone(members), Tag: k % 2}
	g.make(call{handle: h, call: ev.Call, seq: k, number: k, members: members}, ev)
}

func (c call) gatherKey() world.AgreementKey {
	return world.AgreementKey{Comm: c.key, Series: seriesGather, Seq: uint64(c.seq)}
}

// gathers notes that a member makes a creation from a group.
func (k *checker) gathers(c call) {
	a := k.agreements[c.gatherKey()]
	if a == nil {
		a = &world.Agreement{Group: commstate.Group{Procs: c.members}}
		k.agreements[c.gatherKey()] = a
	}
	a.Entered.Add(c.group.Procs[c.group.Me])
}

// gathered checks the answer of a creation from a group (R57). All live members have the same
// answer, except for a revocation. Success requires that every member has called, a failure the
// death of a member.
func (k *checker) gathered(p *process, c call, out commstate.Outcome) {
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
			if !a.Entered.Has(q) {
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
