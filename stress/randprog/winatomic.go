package main

import (
	"slices"

	"github.com/goulfm/goulfm/collectives"
)

// counts makes all members count at one target: on a common counter, with each kind of addition,
// and on a counter for each member. The common counter is at least the sum of the members that
// report completion, and at most the sum with the possible changes of the others. It is unknown
// whether a member's last, failed change happened (W4).
func (s *pane) counts() {
	target, most := s.rng.IntN(s.g.size()), 1+s.rng.IntN(15)
	alone, sum := s.partAt(s.c.Rank()), s.commonAt(0)
	to := s.w.At(target)
	count, last := 0, uint64(0)
	var err error
	for count < most && err == nil {
		var mine uint64
		if mine, err = to.FetchAndOp(s.ctx, alone, 1, collectives.Sum); err != nil {
			break
		}
		if mine != uint64(count) {
			_ = s.broken("a counter that rank %d alone counts up at rank %d was %d, want %d", s.c.Rank(), target, mine, count)
		}
		s.tempt()
		if err = s.add(target, sum, &last); err == nil {
			count++
		}
	}
	s.goesOn(err, target)
	done := err == nil && s.goesOn(to.Flush(s.ctx), target)
	s.settleCounts(s.meet(done), target, count, most)
}

// add adds 1 to a number that all change. The old value, if the call returns it, grows each time.
func (s *pane) add(target, at int, last *uint64) (err error) {
	to, was := s.w.At(target), []uint64{0}
	switch s.own.IntN(4) {
	case 0:
		return to.Accumulate(s.ctx, at, []uint64{1}, collectives.Sum)
	case 1:
		err = to.GetAccumulate(s.ctx, at, []uint64{1}, was, collectives.Sum)
	case 2:
		was[0], err = to.Load(s.ctx, at)
		for swapped := false; err == nil && !swapped; {
			old := was[0]
			was[0], swapped, err = to.CompareAndSwap(s.ctx, at, old, old+1)
			if err == nil && swapped != (was[0] == old) {
				return s.broken("a swap of %d that found %d: %v", old, was[0], swapped)
			}
		}
	default:
		was[0], err = to.FetchAndOp(s.ctx, at, 1, collectives.Sum)
	}
	if err == nil && was[0] < *last {
		return s.broken("a counter of rank %d was %d, and %d before", target, was[0], *last)
	}
	if err == nil {
		*last = was[0] + 1
	}
	return err
}

// settleCounts checks all counters, also in the memory of a target that has died.
func (s *pane) settleCounts(who []bool, target, count, most int) {
	if own, there := s.load(target, s.partAt(s.c.Rank())); there && (own < uint64(count) || own > uint64(count)+1) {
		_ = s.broken("rank %d has counted %d at rank %d, which has %d", s.c.Rank(), count, target, own)
	}
	sum, there := s.load(target, s.commonAt(0))
	for low, high, origin := uint64(0), uint64(0), 0; there; origin++ {
		if origin == len(who) {
			if sum < low || sum > high {
				_ = s.broken("rank %d has counted %d, want %d to %d, of %v", target, sum, low, high, who)
			}
			return
		}
		if who[origin] {
			low += uint64(most)
		}
		high += uint64(most)
	}
}

// claimsMax is the maximal number of claimed elements.
const claimsMax = 30

// claims makes all members swap their mark into free elements of one target. A member that has
// claimed an element keeps it.
func (s *pane) claims() {
	target := s.rng.IntN(s.g.size())
	to, n := s.w.At(target), s.partAt(s.g.size())
	var won []int
	var err error
	for _, i := range s.own.Perm(min(n, claimsMax)) {
		var was uint64
		var mine bool
		if was, mine, err = to.CompareAndSwap(s.ctx, i, 0, s.valueOf(s.c.Rank(), i)); err != nil {
			break
		}
		s.tempt()
		if mine {
			won = append(won, i)
		} else {
			s.isMark(was, target, i)
		}
	}
	s.goesOn(err, target)
	who := s.meet(err == nil)
	for _, i := range won {
		if v, there := s.load(target, i); there && v != s.valueOf(s.c.Rank(), i) {
			_ = s.broken("element %d of rank %d, which rank %d has claimed, is %x", i, target, s.c.Rank(), v)
		}
	}
	if slices.Contains(who, true) { // this member has tried all elements
		i := s.own.IntN(min(n, claimsMax))
		if v, there := s.load(target, i); there {
			s.isMark(v, target, i)
		}
	}
}

// isMark checks that an element holds the mark of a member.
func (s *pane) isMark(v uint64, target, i int) {
	for rank := range s.g.size() {
		if v == s.valueOf(rank, i) {
			return
		}
	}
	_ = s.broken("element %d of rank %d is %x: nobody's mark", i, target, v)
}
