package main

import (
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// A circle is an order of all members, in which each stores at the next member and waits for the
// member before.
type circle struct {
	*pane
	next, before int
}

func (s *pane) circle() *circle {
	order := s.rng.Perm(s.g.size())
	at := slices.Index(order, s.c.Rank())
	return &circle{s, order[(at+1)%len(order)], order[(at+len(order)-1)%len(order)]}
}

// came checks the put of the member before into this member's elements.
func (c *circle) came(first int) {
	c.holds(c.partOf(c.w.Local(), c.before), c.c.Rank(), c.before, first)
}

// flushes makes each member put at the next, flush, and send a message. The receiver of the message
// must have the put (W5).
func (s *pane) flushes() {
	c := s.circle()
	to := c.w.At(c.next)
	r := comm.Irecv(s.from(c.before, 0), make([]uint64, 1))
	flushed := s.ok(s.put(c.next, 0), c.next) && s.ok(to.Flush(s.ctx), c.next)
	s.tempt()
	if flushed && one(s.own, 4) {
		flushed = s.ok(s.w.FlushAll(s.ctx), s.everybody()...) || flushed // the error names other dead members, and the flush is complete
	}
	if flushed {
		s.ok(comm.Send(s.ctx, s.to(c.next, 0), []uint64{1}), c.next)
	}
	if _, err := r.Wait(s.ctx); s.ok(err, c.before) {
		c.came(0)
	}
	s.meet(flushed)
}

// notifies makes each member notify the next of its puts, several times. A member that has counted
// a notification must have the put (W18). A member with an error continues with the calls for which
// others wait.
func (s *pane) notifies() {
	c := s.circle()
	n := 1 + s.rng.IntN(min(3, s.k))
	puts, counts := true, true
	for i := range n {
		puts = puts && s.ok(s.w.At(c.next).PutNotify(s.ctx, s.partAt(s.c.Rank())+i, []uint64{s.valueOf(s.c.Rank(), i)}, 1), c.next)
		s.tempt()
		if counts = counts && c.counted(uint64(i+1)); !counts {
			continue
		}
		if v := s.w.Local()[s.partAt(c.before)+i]; v != s.valueOf(c.before, i) {
			_ = s.broken("rank %d is notified %d times, and has %x in the part of rank %d instead of %x", s.c.Rank(), i+1, v, c.before, s.valueOf(c.before, i))
		}
	}
	s.meet(puts)
}

// counted waits until this member has n notifications. Without a named origin any death ends the
// wait (W17).
func (c *circle) counted(n uint64) bool {
	if one(c.own, 3) {
		return c.ok(c.w.WaitNotify(c.ctx, 1, n), c.others()...)
	}
	return c.ok(c.w.WaitNotify(c.ctx, 1, n, c.before), c.before)
}

// waits makes each member put at the next, and then store a flag without a flush (P1). A member
// that sees the flag must have the put.
func (s *pane) waits() {
	c := s.circle()
	to, at, data := s.w.At(c.next), s.partAt(s.c.Rank()), s.valuesOf(s.c.Rank(), 0)
	stored := s.ok(to.Put(s.ctx, at+1, data[1:]), c.next) && s.ok(to.Store(s.ctx, at, data[0]), c.next)
	s.tempt()
	from, only := []int{c.before}, []int{c.before}
	if one(s.own, 3) {
		from, only = nil, c.others()
	}
	if _, err := s.w.Wait(s.ctx, s.partAt(c.before), func(v uint64) bool { return v != 0 }, from...); s.ok(err, only...) {
		c.came(0)
	}
	s.meet(stored)
}

// posts makes each member put at some next members, between Start and Complete, and wait for the
// same number of members before (W16).
func (s *pane) posts() {
	order := s.rng.Perm(s.g.size())
	at, far := slices.Index(order, s.c.Rank()), 1+s.rng.IntN(min(2, len(order)))
	var origins, targets []int
	for d := 1; d <= far; d++ {
		targets = append(targets, order[(at+d)%len(order)])
		origins = append(origins, order[(at+len(order)-d)%len(order)])
	}
	if !s.ok(s.w.Post(s.ctx, s.members(origins))) {
		s.meet(false)
		return
	}
	err := s.w.Start(s.ctx, s.members(targets))
	started := s.ok(err, targets...) || classify(err) == classFailed
	done := started
	for _, target := range targets {
		done = done && s.goesOn(s.put(target, 0), target)
	}
	s.tempt()
	if done {
		err = s.w.Complete(s.ctx)
		done = s.ok(err, targets...) || classify(err) == classFailed
	}
	err = s.w.WaitPosted(s.ctx)
	if s.ok(err, origins...) || classify(err) == classFailed {
		for _, origin := range origins {
			if !slices.Contains(namedRanks(err), origin) {
				s.holds(s.partOf(s.w.Local(), origin), s.c.Rank(), origin, 0)
			}
		}
	}
	s.settleParts(s.onlyOf(s.meet(done), origins), []int{0})
}

// onlyOf restricts who to some ranks.
func (s *pane) onlyOf(who []bool, some []int) []bool {
	for rank := range who {
		who[rank] = who[rank] && slices.Contains(some, rank)
	}
	return who
}

// members returns the ranks as a group.
func (s *pane) members(ranks []int) comm.Group {
	g, err := s.c.Group().Incl(ranks...)
	if err != nil {
		_ = s.broken("a group of %v: %v", ranks, err)
	}
	return g
}
