package twolevel

import (
	"slices"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
)

// enter publishes the oldest contribution that the window admits, with every death known by now
// (R38), and reports whether there was one.
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

// contribution returns this node's contribution to agreement k, once each of its members has a line
// or has stopped: the merged lines, and nothing else (A28). Lines stay. So an earlier leader, which
// had read a part of the list that this leader has read, found the same lines, and can only have
// known of fewer deaths.
//
// All stopped members had stopped before the first line is read: a member without a line then never
// gets one (I1 of onenode).
func (s *Series) contribution(k uint64) (v era.Value, all bool) {
	if len(s.missing(k)) > 0 {
		return era.Value{}, false
	}
	for i, r := range s.node {
		if s.hasLine(i, k) && !onenode.MergeLine(&v, s.memory, i, s.slot(k), k, r, s.n) {
			return era.Value{}, false // another communicator uses the memory by now: no member waits any more
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

// write stores v as this node's decision of agreement k: the value, then the word that names the
// value. No other member writes this decision: former leaders have stopped, and their words were
// read.
func (s *Series) write(k uint64, v era.Value) {
	slot := s.slot(k)
	word := s.memory.Word(slot)
	if onenode.WordTag(word) != s.tag {
		return // the communicator is closed and its memory reused: no member waits for this agreement any more
	}
	onenode.OfferDecision(s.memory, slot, v)
	s.memory.Swap(slot, word, onenode.DecisionWord(s.tag, k, s.place))
}

// written returns this node's decision of agreement k.
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

// follow reads the next decision of this node from memory, and reports whether there is one. All
// members do so, the leader included: so every returned decision is in memory, for the next leader
// (A26).
//
// Agreed deaths are recorded before the next agreement is entered, which the window may admit at
// once: the tree of that agreement leaves them out, so the contribution must report them (R31).
// They close no rank (A27).
func (s *Series) follow() bool {
	k := s.decided + 1
	if k > s.entered {
		return false // without this member's line there is no decision
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
