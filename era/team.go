package era

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// teams maps ranks to participants, and participants to their speakers. A nil *teams is the flat
// case: each rank is a participant by itself.
//
// The speaker of a team is its least rank that has not stopped. Only speakers send, and ranks that
// received a message as speaker. So a message from a rank shows that the ranks before it have
// stopped, also where that is not known yet: an answer must not be sent to one of them. The message
// closes no rank (A27).
type teams struct {
	of      []int       // participant by rank
	members [][]int     // ranks by participant, ascending
	stopped rankset.Set // ranks that are dead or have left
	speaker []int       // by participant: index in members; only grows
}

// newTeams returns the teams with these ranks, each rank below n in exactly one; nil for none.
func newTeams(members [][]int, n int) *teams {
	if members == nil {
		return nil
	}
	t := &teams{of: slices.Repeat([]int{-1}, n), members: members, speaker: make([]int, len(members))}
	for p, ranks := range members {
		must.That(len(ranks) > 0 && slices.IsSorted(ranks), "the ranks of participant %d are %v", p, ranks)
		for _, r := range ranks {
			must.That(r >= 0 && r < n && t.of[r] < 0, "rank %d of %d in participant %d", r, n, p)
			t.of[r] = p
		}
	}
	must.That(!slices.Contains(t.of, -1), "a rank of %d is in no team: %v", n, members)
	return t
}

// participants returns the number of participants among n ranks.
func (t *teams) participants(n int) int {
	if t == nil {
		return n
	}
	return len(t.members)
}

// participant returns the participant of a rank.
func (t *teams) participant(rank int) int {
	if t == nil {
		return rank
	}
	return t.of[rank]
}

// speaks returns the rank that speaks for a participant.
func (t *teams) speaks(p int) int {
	if t == nil {
		return p
	}
	return t.members[p][t.speaker[p]]
}

// speakers returns the ranks that speak for these participants.
func (t *teams) speakers(ps rankset.Set) rankset.Set {
	if t == nil {
		return ps
	}
	var ranks rankset.Set
	for p := range ps.All() {
		ranks.Add(t.speaks(p))
	}
	return ranks
}

// stop records that a rank has stopped. The result gone is true for the last rank of its
// participant; moved is true if the participant has a new speaker now.
func (t *teams) stop(rank int) (p int, gone, moved bool) {
	if t == nil {
		return rank, true, false
	}
	t.stopped.Add(rank)
	p = t.of[rank]
	if gone = !slices.ContainsFunc(t.members[p], t.lives); gone {
		return p, true, false
	}
	after := t.members[p][t.speaker[p]:]
	if ahead := slices.IndexFunc(after, t.lives); ahead > 0 {
		t.speaker[p] += ahead
		return p, false, true
	}
	return p, false, false
}

func (t *teams) lives(rank int) bool { return !t.stopped.Has(rank) }

// hear records a message of a rank, and reports whether this makes the rank the new speaker of its
// participant.
func (t *teams) hear(rank int) (p int, moved bool) {
	if t == nil {
		return rank, false
	}
	p = t.of[rank]
	i, _ := slices.BinarySearch(t.members[p], rank)
	if i <= t.speaker[p] {
		return p, false // also for a slow message of a former speaker
	}
	t.speaker[p] = i
	return p, true
}

// within returns the participants with all their ranks in the set.
func (t *teams) within(ranks rankset.Set) rankset.Set {
	if t == nil {
		return ranks
	}
	var all rankset.Set
	for p, members := range t.members {
		if rankset.Of(members...).SubsetOf(ranks) {
			all.Add(p)
		}
	}
	return all
}

func (t *teams) clone() *teams {
	if t == nil {
		return nil
	}
	c := *t
	c.stopped, c.speaker = t.stopped.Clone(), slices.Clone(t.speaker)
	return &c
}
