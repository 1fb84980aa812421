package onenode

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// scan checks the oldest open agreement, and reports whether this call decided it. Younger
// agreements need no check: a member with a line there has a line here.
//
// scan first reads the decision word, then checks which members have a line, and reads the contents
// of the lines only when no member is missing: of many members that wait for one another, only the
// last to arrive, or several that arrive at the same time, combine all contributions.
//
// All closed members were closed before the first line is read (I1). Otherwise:
//
//	2 publishes and dies. 0 sees no line of 2 yet; 1 does, has all lines, and
//	decides with 2. If 0 now heard of the death and went by what it saw before, it
//	would decide without 2.
func (s *Series) scan() bool {
	k := s.decided + 1
	if s.follow(k, s.memory.Word(s.slot(k))) {
		return true
	}
	var skipped rankset.Set
	for m := range s.n {
		switch {
		case s.seen.Has(m):
		case s.isHere(m, k):
			s.seen.Add(m)
		case !s.closed.Has(m):
			return false
		default:
			skipped.Add(m)
		}
	}
	if !s.takeAll(k) {
		return false
	}
	if skipped.IsEmpty() {
		s.decideAll(k)
		return true
	}
	return s.arbitrate(k, skipped)
}

func (s *Series) isHere(m int, k uint64) bool {
	_, there := s.memory.Read(m, s.slot(k), k)
	return there
}

// takeAll merges the contributions of the seen members to agreement k, and reports whether all of
// them are still there. Each contribution has at most an entry of its own rank, and the loop is in
// the order of ranks: so appending gives the sorted entries, without a new list for each member.
func (s *Series) takeAll(k uint64) bool {
	s.value = era.Value{}
	entries := make([]era.Entry, 0, s.n)
	for m := range s.seen.All() {
		if !s.take(m, k) {
			return false
		}
		entries = append(entries, s.value.Entries...)
		s.value.Entries = nil
	}
	if len(entries) > 0 {
		s.value.Entries = entries
	}
	return true
}

// take merges member m's contribution to agreement k, and reports whether the line is there.
func (s *Series) take(m int, k uint64) bool {
	return MergeLine(&s.value, s.memory, m, s.slot(k), k, m, s.n)
}

// decideAll is case (a): a function of the lines and of nothing else (I2).
func (s *Series) decideAll(k uint64) {
	s.decide(k, s.value)
}

// arbitrate is case (b): the first to swap the decision word decides for all (I3).
func (s *Series) arbitrate(k uint64, skipped rankset.Set) bool {
	slot := s.slot(k)
	word := s.memory.Word(slot)
	if word&tagMask != s.tag {
		return false // the communicator is closed and its memory reused: no member waits for this agreement any more
	}
	if Winner(word, k) < 0 {
		v := s.without(skipped)
		OfferDecision(s.memory, slot, v)
		if s.memory.Swap(slot, word, DecisionWord(uint32(s.tag>>32), k, s.me)) {
			s.decide(k, v)
			return true
		}
		word = s.memory.Word(slot)
	}
	return s.follow(k, word)
}

// without returns the merged lines, with the skipped members that are dead added to the dead (R28,
// R31). A member that left is not added.
func (s *Series) without(skipped rankset.Set) era.Value {
	v := s.value.Clone()
	skipped.Intersect(s.dead)
	v.Dead.Union(skipped)
	return v
}

// follow decides the value offered by the member that the decision word names, if the word is of
// this agreement: then all members without a line had stopped, whether this member has learnt of
// that or not.
func (s *Series) follow(k uint64, word uint64) bool {
	w := Winner(word, k)
	if word&tagMask != s.tag || w < 0 || w >= s.n {
		return false
	}
	v, there := Decision(s.memory, w, s.slot(k), w, s.n)
	if !there {
		return false
	}
	s.decide(k, v)
	return true
}

func (s *Series) decide(k uint64, v era.Value) {
	s.decided = k
	s.value, s.seen = era.Value{}, rankset.Set{}
	s.out = append(s.out, Decide{Seq: k, Value: v})
}
