package twolevel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// member returns a member of a group on nodes of these sizes, and the memory of its node.
func member(me int, sizes ...int) (*Series, *view) {
	c := newCluster(consecutive(sizes...), nil)
	return c.members[me], c.members[me].memory.(*view)
}

func own(me int) era.Value {
	return era.Value{Flag: 1, Lo: era.Claim{Rank: me}, Hi: era.Claim{Rank: me}}
}

// of returns the merged contributions of these ranks.
func of(dead rankset.Set, ranks ...int) era.Value {
	var v era.Value
	for _, r := range ranks {
		w := own(r)
		w.From = rankset.Of(r)
		v.Merge(w)
	}
	v.Dead, v.Returned = dead, 1
	return v
}

func down(from int, seq uint64, v era.Value) Receive {
	return Receive{From: from, Seq: seq, Msg: era.AppendMessage(nil, era.Down{Value: v})}
}

// sent returns the messages among some actions.
func sent(t *testing.T, acts []era.Action, n int) (out []era.Message) {
	for _, a := range acts {
		if s, ok := a.(era.Send); ok {
			m, err := era.DecodeMessage(s.Msg, n)
			require.NoError(t, err)
			out = append(out, m)
		}
	}
	return out
}

// TestAgreedDeathsAreReported: a contribution that the window admits at a decision has the deaths
// of that decision, which its tree leaves out (R31), before the owner has announced them.
func TestAgreedDeathsAreReported(t *testing.T) {
	s, _ := member(1, 1, 1, 1)
	for range era.Window + 1 {
		s.Step(Propose{Value: own(1)})
	}
	acts := s.Step(down(0, 1, of(rankset.Of(2), 0, 1, 2)))
	ups := sent(t, acts, 3)
	require.Len(t, ups, 1)
	assert.Equal(t, "UP [from={1} flag=1 dead={2} acked={}]", ups[0].(era.Up).String())
}

// TestMessageBeforeTheList: a message for a leader that has stopped unknown to this member is kept,
// and counts when this member leads (A19).
func TestMessageBeforeTheList(t *testing.T) {
	s, _ := member(1, 2, 1)
	s.Step(Propose{Value: own(1)})
	up := era.AppendMessage(nil, era.Up{Value: of(rankset.Of(0), 2)})
	assert.Empty(t, s.Step(Receive{From: 2, Seq: 1, Msg: up}))
	acts := s.Step(Listed{Rank: 0})
	require.Len(t, acts, 2, "%v", acts)
	assert.Equal(t, 2, acts[0].(era.Send).To)
	assert.Equal(t, "from={1,2} flag=1 dead={0} acked={}", acts[1].(era.Decide).Value.String())
}

// TestMessageFromTheSameNode: members of one node meet in its memory.
func TestMessageFromTheSameNode(t *testing.T) {
	s, _ := member(2, 2, 2)
	acts := s.Step(down(3, 1, of(rankset.Set{}, 0, 1, 2, 3)))
	require.Len(t, acts, 1)
	assert.Equal(t, 3, acts[0].(era.Anomaly).From)
}

// TestMalformedMessage: it is reported, and has no effect.
func TestMalformedMessage(t *testing.T) {
	s, _ := member(2, 2, 2)
	acts := s.Step(Receive{From: 0, Seq: 1, Msg: []byte{9}})
	require.Len(t, acts, 1)
	assert.Equal(t, 0, acts[0].(era.Anomaly).From)
}

// TestForeignMemory: the memory of a communicator that was closed serves another one. A slow member
// accepts nothing there as a decision, and writes none.
func TestForeignMemory(t *testing.T) {
	s, v := member(0, 1, 1)
	v.ram.slot(1, 1).word = onenode.DecisionWord(tag+1, 1, 0)
	s.Step(Propose{Value: own(0)})
	up := era.AppendMessage(nil, era.Up{Value: of(rankset.Set{}, 1)})
	for _, a := range s.Step(Receive{From: 1, Seq: 1, Msg: up}) {
		_, decides := a.(era.Decide)
		assert.False(t, decides, "%v", a)
	}
	assert.Equal(t, onenode.DecisionWord(tag+1, 1, 0), v.ram.slot(1, 1).word)
	assert.Equal(t, 1, s.Open())
}

// TestBrokenLine: bytes that no member writes are a mismatch that names the member, the same for
// all readers.
func TestBrokenLine(t *testing.T) {
	s, v := member(0, 2, 1)
	v.ram.slot(1, 2).lines[1] = ramLine{seq: 1, line: onenode.Line{LongBytes: 3}, long: []byte{1, 2, 3}}
	s.Step(Propose{Value: own(0)})
	up := era.AppendMessage(nil, era.Up{Value: of(rankset.Set{}, 2)})
	acts := s.Step(Receive{From: 2, Seq: 1, Msg: up})
	d, ok := acts[len(acts)-1].(era.Decide)
	require.True(t, ok, "%v", acts)
	assert.True(t, d.Value.Mismatch())
	assert.Equal(t, 1, d.Value.Hi.Rank)
}

// TestWaitsFor: first for members of the node, then for its leader, and there for other nodes.
func TestWaitsFor(t *testing.T) {
	c := newCluster(consecutive(2, 2), nil)
	require.NoError(t, c.propose(1, own(1)))
	assert.Equal(t, []int{0}, c.members[1].WaitsFor(1))
	require.NoError(t, c.propose(0, own(0)))
	assert.Equal(t, []int{0}, c.members[1].WaitsFor(1))
	assert.Equal(t, []int{2}, c.members[0].WaitsFor(1))
	assert.Nil(t, c.members[0].WaitsFor(2))
	require.NoError(t, c.propose(0, own(0)))
	assert.Equal(t, []int{1}, c.members[0].WaitsFor(2))
}
