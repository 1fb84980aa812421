package era

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// pairs are participants of two ranks each.
func pairs() [][]int { return [][]int{{0, 1}, {2, 3}, {4, 5}} }

func TestTeamsAreClosedWhenAllHaveStopped(t *testing.T) {
	s := newTeams(pairs(), 6)
	assert.Equal(t, 2, s.speaks(1))
	p, gone, moved := s.stop(3)
	assert.Equal(t, 1, p)
	assert.False(t, gone || moved)
	_, gone, moved = s.stop(2)
	assert.True(t, gone)
	assert.False(t, moved)
}

func TestTeamsSpeakByTheLeastThatLives(t *testing.T) {
	s := newTeams(pairs(), 6)
	_, gone, moved := s.stop(2)
	assert.True(t, moved)
	assert.False(t, gone)
	assert.Equal(t, 3, s.speaks(1))
	assert.Equal(t, rankset.Of(0, 3), s.speakers(rankset.Of(0, 1)))
}

// TestTeamsHear: the sender of a message counts as the speaker, and closes no rank.
func TestTeamsHear(t *testing.T) {
	s := newTeams(pairs(), 6)
	_, moved := s.hear(3)
	assert.True(t, moved)
	assert.Equal(t, 3, s.speaks(1))
	_, moved = s.hear(2) // late
	assert.False(t, moved)
	assert.Equal(t, 3, s.speaks(1))
	_, gone, moved := s.stop(3)
	assert.False(t, gone || moved, "no list says that 2 has stopped")
	_, gone, _ = s.stop(2)
	assert.True(t, gone)
}

func TestTeamsWithin(t *testing.T) {
	s := newTeams(pairs(), 6)
	assert.True(t, s.within(rankset.Of(0, 2, 3)).Equal(rankset.Of(1)))
	assert.True(t, (*teams)(nil).within(rankset.Of(0, 2)).Equal(rankset.Of(0, 2)))
}

func TestTeamsOfWrongRanks(t *testing.T) {
	for _, members := range [][][]int{{{0}}, {{0, 1}, {1}}, {{1, 0}}, {{0, 1}, {}}, {{0, 2}}} {
		assert.Panics(t, func() { newTeams(members, 2) }, "%v", members)
	}
}

// teamSeries returns a Series of rank me of pairs, which has contributed for its participant.
func teamSeries(t *testing.T, me int) (s *Series, acts []Action) {
	s = NewSeries(Config{N: 6, Me: me, Teams: pairs()})
	var v Value
	for _, r := range pairs()[me/2] {
		v.Merge(Value{From: rankset.Of(r), Flag: 1, Lo: Claim{Rank: r}, Hi: Claim{Rank: r}})
	}
	acts = s.Step(Propose{Value: v})
	require.LessOrEqual(t, len(acts), 1)
	return s, acts
}

// TestWaitingTellsTheHeir: a member that waits for a participant contributes to its heir again
// (A25).
func TestWaitingTellsTheHeir(t *testing.T) {
	s, acts := teamSeries(t, 2)
	assert.Equal(t, 0, acts[0].(Send).To)
	acts = s.Step(Failed{Rank: 0})
	require.Len(t, acts, 1)
	assert.Equal(t, 1, acts[0].(Send).To)
	assert.Equal(t, []int{1}, s.WaitsFor(1))
	assert.Empty(t, s.Step(Failed{Rank: 5}), "the last of nobody")
}

// TestAskedAgain: a root asks the heir of a participant that was asked before (A25).
func TestAskedAgain(t *testing.T) {
	s, _ := teamSeries(t, 2)
	s.Step(Failed{Rank: 0})
	acts := s.Step(Failed{Rank: 1})
	require.Len(t, acts, 1)
	assert.Equal(t, Send{To: 4, Seq: 1, Msg: AppendMessage(nil, ResultRequest{})}, acts[0])
	acts = s.Step(Failed{Rank: 4})
	require.Len(t, acts, 1)
	assert.Equal(t, 5, acts[0].(Send).To)
}

// TestLearnedIsAnswered: a requester from before a decision was learned receives the decision.
func TestLearnedIsAnswered(t *testing.T) {
	s := NewSeries(Config{N: 6, Me: 3, Teams: pairs()})
	assert.Empty(t, s.Step(Receive{From: 0, Seq: 1, Msg: AppendMessage(nil, ResultRequest{})}))
	v := Value{From: rankset.Range(0, 6), Flag: 1, Hi: Claim{Rank: 5}, Returned: 1}
	acts := s.Step(Learned{Seq: 1, Value: v})
	require.Len(t, acts, 1)
	assert.Equal(t, Send{To: 0, Seq: 1, Msg: AppendMessage(nil, Down{v})}, acts[0])
	got, there := s.Decision(1)
	assert.True(t, there && got.Equal(v))
	assert.Equal(t, 0, s.Open())
	assert.EqualValues(t, 2, s.Next())
}

// TestFlatNeedsNoTeams: without teams, and with one for each rank, the same is sent.
func TestFlatNeedsNoTeams(t *testing.T) {
	flat := NewSeries(Config{N: 3, Me: 1})
	teams := NewSeries(Config{N: 3, Me: 1, Teams: [][]int{{0}, {1}, {2}}})
	v := Value{From: rankset.Of(1), Flag: 1, Lo: Claim{Rank: 1}, Hi: Claim{Rank: 1}}
	for _, ev := range []Event{Propose{Value: v}, Failed{Rank: 0}, Receive{From: 2, Seq: 1, Msg: AppendMessage(nil, Up{Value{
		From: rankset.Of(2), Flag: 1, Lo: Claim{Rank: 2}, Hi: Claim{Rank: 2}, Returned: 1}})}} {
		assert.Equal(t, flat.Step(ev), teams.Step(ev))
	}
	assert.Equal(t, 0, flat.Open())
}
