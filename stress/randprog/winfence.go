package main

import "github.com/goulfm/goulfm/collectives"

// fences makes all members put to all, between fences, in some rounds.
func (s *pane) fences() {
	firsts := s.rounds()
	done := false
	for _, first := range firsts {
		if done = s.putToAll(first); !done {
			break
		}
		s.tempt()
		var over bool
		if over, done = s.fence(); !over {
			break
		}
		s.readAll(first)
		s.tempt()
		if over, _ = s.fence(); !over {
			break
		}
	}
	s.settleParts(s.meet(done), firsts)
}

// rounds returns the index of the first number that each member puts, for each round.
func (s *pane) rounds() []int {
	firsts := make([]int, 1+s.rng.IntN(3))
	for i := range firsts {
		firsts[i] = i * s.k
	}
	return firsts
}

// settleParts checks this member's elements after a meeting. After a failed fence the others may be
// at different places, because the fence may have succeeded at some (W14). But the puts of the
// members that report completion are there (W15).
func (s *pane) settleParts(who []bool, firsts []int) {
	me := s.c.Rank()
	for origin := range who {
		switch {
		case who[origin]:
			s.holds(s.partOf(s.w.Local(), origin), me, origin, firsts...)
		case s.isDead(origin):
			s.mayHold(s.partOf(s.w.Local(), origin), me, origin, firsts...)
		}
	}
}

// putToAll puts this member's numbers to all members; false: it has not reached all live members.
func (s *pane) putToAll(first int) bool {
	for _, target := range s.own.Perm(s.g.size()) {
		if !s.goesOn(s.put(target, first), target) {
			return false
		}
	}
	return true
}

// put puts this member's numbers into its part at a target. A put at a target that is known to be
// dead must fail (W3).
func (s *pane) put(target, first int) error {
	known := s.knows(target)
	err := s.putSomehow(target, first)
	if known && err == nil {
		return s.broken("a put at rank %d, which is known to be dead", target)
	}
	return err
}

// replaceMax is the maximal number of replaced elements: between nodes each of them costs a request
// and a reply.
const replaceMax = 5

func (s *pane) putSomehow(target, first int) error {
	to, at, src := s.w.At(target), s.partAt(s.c.Rank()), s.valuesOf(s.c.Rank(), first)
	switch s.own.IntN(5) {
	case 0:
		_, err := to.Iput(s.ctx, at, src).Wait(s.ctx)
		return err
	case 1, 2:
		few := min(len(src), replaceMax)
		if err := to.Put(s.ctx, at+few, src[few:]); err != nil {
			return err
		}
		if one(s.own, 2) {
			_, err := to.Iaccumulate(s.ctx, at, src[:few], collectives.Replace[uint64]).Wait(s.ctx)
			return err
		}
		return to.Accumulate(s.ctx, at, src[:few], collectives.Replace[uint64])
	case 3:
		half := len(src) / 2
		if err := to.Put(s.ctx, at+half, src[half:]); err != nil {
			return err
		}
		s.tempt()
		return to.Put(s.ctx, at, src[:half])
	}
	return to.Put(s.ctx, at, src)
}

// fence reports whether all members have reached the fence, and whether this member's puts are
// complete, which holds for all deaths (W14).
func (s *pane) fence() (over, done bool) {
	err := s.w.Fence(s.ctx)
	over = s.ok(err, s.everybody()...)
	return over, over || classify(err) == classFailed
}

// readAll checks all members' elements, after a fence that follows the puts of all.
func (s *pane) readAll(first int) {
	all := make([]uint64, s.partAt(s.g.size()))
	for _, target := range s.own.Perm(s.g.size()) {
		if !s.read(target, 0, all) {
			continue
		}
		for origin := range s.g.size() {
			s.holds(s.partOf(all, origin), target, origin, first)
		}
	}
}
