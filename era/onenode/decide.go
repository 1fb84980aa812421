package onenode

import (
	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// scan looks at the oldest open agreement, and says whether it decided it. Younger
// ones need no look: who has a line there has one here.
//
// It looks who has decided first, then who has a line, and reads what the lines say
// only when nobody is missing: of many members that wait for one another just the
// last to come, or those who come at the same time, combine all contributions.
//
// All that is closed was closed before the first line is looked at (I1). Otherwise:
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

// takeAll merges the contributions to agreement k of those who were seen, and says
// whether they are all there. Each has an entry of its own rank at most, and they come in
// the order of ranks: so the entries of all are these one behind another, without a list
// made anew for each.
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

// take merges member m's contribution to agreement k, and says whether it is there.
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
		return false // closed, and gone: nobody waits for this agreement any more
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

// without returns what the lines say, and that those who are skipped and dead are
// dead (R28, R31). Who left is not.
func (s *Series) without(skipped rankset.Set) era.Value {
	v := s.value.Clone()
	skipped.Intersect(s.dead)
	v.Dead.Union(skipped)
	return v
}

// follow decides what the member named by the decision word has offered, if the word
// is of this agreement: then everybody without a line had stopped, whether this
// member has heard of it or not.
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
