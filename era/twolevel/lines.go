package twolevel

import (
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
)

// enter publishes the oldest contribution that the window lets in, with every death known
// by now (R38), and says whether there was one.
func (s *Series) enter() bool {
	if len(s.queue) == 0 || s.entered == s.decided+era.Window {
		return false
	}
	v := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	v.Dead = s.dead.Clone()
	s.entered++
	onenode.PublishLine(s.memory, s.slot(s.entered), s.entered, v)
	return true
}

// contribution returns what this node contributes to agreement k, once each of its members
// has a line or has stopped: what the lines say together, and nothing else (A28). Lines
// stay. So an earlier leader, which had read a part of the list that this one has read,
// found the same lines; it can only have known of fewer deaths.
//
// All that has stopped did so before the first line is looked at: a member without a line
// is then without it for ever (I1 of onenode).
func (s *Series) contribution(k uint64) (v era.Value, all bool) {
	if len(s.missing(k)) > 0 {
		return era.Value{}, false
	}
	for i, r := range s.node {
		if s.hasLine(i, k) && !onenode.MergeLine(&v, s.memory, i, s.slot(k), k, r, s.n) {
			return era.Value{}, false // the memory is another communicator's by now: nobody waits any more
		}
	}
	return v, true
}

// missing returns the ranks of this node that have no line of agreement k, and live.
func (s *Series) missing(k uint64) (ranks []int) {
	for i, r := range s.node {
		if !s.stopped.Has(r) && !s.hasLine(i, k) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func (s *Series) hasLine(i int, k uint64) bool {
	_, there := s.memory.Read(i, s.slot(k), k)
	return there
}

func (s *Series) slot(k uint64) int { return int(k % onenode.Slots) }

// write makes v what this node has decided in agreement k: the value, then the word that
// names it. No other member writes it: who led before has stopped, and what it wrote was
// looked at.
func (s *Series) write(k uint64, v era.Value) {
	slot := s.slot(k)
	word := s.memory.Word(slot)
	if onenode.WordTag(word) != s.tag {
		return // closed, and gone: nobody waits for this agreement any more
	}
	onenode.OfferDecision(s.memory, slot, v)
	s.memory.Swap(slot, word, onenode.DecisionWord(s.tag, k, s.place))
}

// written returns what this node has decided in agreement k.
func (s *Series) written(k uint64) (v era.Value, there bool) {
	slot := s.slot(k)
	word := s.memory.Word(slot)
	w := onenode.Winner(word, k)
	if onenode.WordTag(word) != s.tag || w < 0 || w >= len(s.node) {
		return era.Value{}, false
	}
	if v, there := s.upper.Decision(k); there {
		return v, true
	}
	return onenode.Decision(s.memory, w, slot, s.node[w], s.n)
}

// follow takes the next decision of this node, and says whether it is there. All members
// do, its leader, too: so what a member returns is in memory, for whoever leads next (A26).
//
// Deaths that were agreed are known before anything else is entered, which the window may
// let in at once: the tree of that leaves them out, so it must report them (R31). They
// close nobody (A27).
func (s *Series) follow() bool {
	k := s.decided + 1
	if k > s.entered {
		return false // without this member's line there is none
	}
	v, there := s.written(k)
	if !there {
		return false
	}
	s.decided = k
	s.dead.Union(v.Dead)
	s.dead.Remove(s.me)
	if s.upper.Next() == k {
		s.stepUpper(era.Learned{Seq: k, Value: v})
	}
	s.out = append(s.out, era.Decide{Seq: k, Value: v})
	return true
}
