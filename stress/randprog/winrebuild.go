package main

import (
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// rebuilds puts, shrinks, and continues with the same memory among the survivors (W20). One
// survivor inherits the elements of a dead member.
func (s *pane) rebuilds() {
	if one(s.own, 2) { // the rebuilt window has no lock holder
		s.ok(s.w.At(s.c.Rank()).Lock(s.ctx, rma.LockExclusive))
	}
	done := s.putToAll(0)
	if done {
		_, done = s.fence()
	}
	who := s.meet(done)
	s.tempt()
	s.settleParts(who, []int{0})
	c, err := s.c.Shrink(s.ctx)
	if err != nil {
		s.fails(err)
		return
	}
	r := s.repairOn(c)
	s.m.member(r.left.g)
	if !r.rebuilt(who) || len(r.dead) > 0 && !r.inherited() {
		s.m.revoke(r.left.g) // others may wait for this member
	}
	if r.left.w != nil {
		r.left.fails(r.left.w.Free())
	}
	if s.bad == nil {
		s.bad = r.left.bad
	}
	s.fails(c.Free())
}

// A repair is a window, and the rebuilt window of its survivors.
type repair struct {
	was, left *pane
	ranks     []int // of the survivors, in the old window
	dead      []int // ranks of the dead, in the old window
}

func (s *pane) repairOn(c *comm.Comm) *repair {
	inner := *s.step
	inner.g = &group{name: s.name + "s", c: c, procs: c.Group().Processes()}
	inner.c = c
	r := &repair{was: s, left: &pane{step: &inner, k: s.k, lent: s.lent}}
	for rank, proc := range s.g.procs {
		if slices.Contains(inner.g.procs, proc) {
			r.ranks = append(r.ranks, rank)
		} else {
			r.dead = append(r.dead, rank)
		}
	}
	return r
}

// rebuilt rebuilds the window, checks that all completed puts are there, and uses the window;
// false: others may not have got this far.
func (r *repair) rebuilt(who []bool) bool {
	var err error
	l := r.left
	l.w, err = rma.Rebuild(l.ctx, l.c, r.was.w)
	l.wasMade("r", err)
	r.salvaged()
	r.left.tempt()
	if err != nil {
		return false
	}
	all := make([]uint64, r.was.partAt(len(who)))
	for target, old := range r.ranks {
		for origin := range who {
			if part := r.was.partOf(all, origin); who[origin] && l.read(target, r.was.partAt(origin), part) {
				r.was.holds(part, old, origin, 0)
			}
		}
		r.locked(target)
		_, err := l.w.At(target).FetchAndOp(l.ctx, r.was.commonAt(0), 1, collectives.Sum)
		l.goesOn(err, target)
	}
	over, _ := l.fence()
	if mine := l.w.Local(); over && mine[r.was.commonAt(0)] != uint64(len(r.ranks)) {
		_ = l.broken("%d members have counted to %d in a window that was made again", len(r.ranks), mine[r.was.commonAt(0)])
	}
	return over
}

// locked acquires and releases a lock of the new window.
func (r *repair) locked(target int) {
	l := r.left
	if l.ok(l.w.At(target).Lock(l.ctx, rma.LockExclusive), l.everybody()...) { // else the target or the holder is dead
		l.ok(l.w.At(target).Unlock(l.ctx), target)
	}
}

// salvaged reads the elements of the dead, which may hold any of their puts (W9).
func (r *repair) salvaged() {
	s := r.was
	for _, target := range r.dead {
		all := make([]uint64, s.partAt(s.g.size()))
		if !s.salvage(target, 0, all) {
			continue
		}
		for origin := range s.g.size() {
			s.mayHold(s.partOf(all, origin), target, origin, 0)
		}
	}
}

// inherited makes one survivor take over the elements of a dead member.
func (r *repair) inherited() bool {
	l, dead := r.left, r.dead[0]
	heirs, err := rma.Heirs(l.ctx, l.c, r.was.w, r.dead[:1])
	if !l.ok(err, l.everybody()...) {
		return false
	}
	heir := heirs[0]
	if near := slices.ContainsFunc(l.g.procs, func(proc int) bool { return !r.was.isApart(proc, r.was.g.procs[dead]) }); near != (heir != comm.Undefined) {
		_ = l.broken("the heir of rank %d is %d, of %v; one has its memory: %v", dead, heir, l.g.procs, near)
	}
	if heir == comm.Undefined {
		return true
	}
	share := rma.Fresh(0)
	if heir == l.c.Rank() {
		share = rma.Inherit(dead)
	}
	w, err := rma.Rebuild(l.ctx, l.c, r.was.w, share)
	l.wasMade("i", err)
	if err != nil {
		return false
	}
	old := make([]uint64, r.was.commonAt(common))
	if heir == l.c.Rank() && r.was.salvage(dead, 0, old) && !slices.Equal(w.Local(), old) {
		_ = l.broken("rank %d has not inherited the elements of rank %d", heir, dead)
	}
	l.fails(w.Free())
	return true
}
