package onenode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// reuse is a communicator of processes 0, 1 and 2, one of them slow. Its blocks serve another
// communicator when the others have closed the first.
type reuse struct {
	t       *testing.T
	heap    *Heap
	members []*Series
}

const reusedBlocks = 1 // indices 0 and 2 are of one block

func newReuse(t *testing.T) *reuse {
	r := &reuse{t: t, heap: NewHeap(reusedBlocks, nil)}
	for me := range 3 {
		r.members = append(r.members, NewSeries(Config{N: 3, Me: me, Memory: r.open([]int{0, 1, 2}, 0, me)}))
	}
	return r
}

func (r *reuse) open(procs []int, index uint32, me int) Memory {
	of := Sharing{Procs: procs, Indices: make([]uint32, len(procs)), Me: me}
	for i := range of.Indices {
		of.Indices[i] = index
	}
	return r.heap.Open(of)
}

func (r *reuse) propose(me int) []Action {
	claim := era.Claim{Call: 1, Rank: me}
	return r.members[me].Step(Propose{Value: era.Value{Flag: 1, Lo: claim, Hi: claim}})
}

// TestReusedLineIsNoContribution: 0 has seen the lines of 1 and waits for 2. All the others decide
// and close, and 1 uses its block for another communicator before 0 reads again: the line that 0
// has seen is not there any more. 0 decides nothing; a decision would be without 1, which has
// contributed and lives.
func TestReusedLineIsNoContribution(t *testing.T) {
	r := newReuse(t)
	require.Empty(t, r.propose(0))
	require.Empty(t, r.propose(1))
	require.Empty(t, r.members[0].Step(Look{})) // sees 1
	require.Len(t, r.propose(2), 1)
	require.Len(t, r.members[1].Step(Look{}), 1)
	r.heap.Prepare(1, 2, 1)
	require.Empty(t, r.members[0].Step(Look{}))
}

// TestForeignWordIsNoDecision: 2 waits. 0, which has the words in its block, has closed the
// communicator and uses the block for another one, with process 3. The decision word there names
// member 1 and agreement 1, as it could here; and member 1 here has offered a value for agreement
// 1, which came too late. 2 must not take that for the decision.
func TestForeignWordIsNoDecision(t *testing.T) {
	r := newReuse(t)
	late := era.Value{From: rankset.Of(1), Flag: 7}
	r.open([]int{0, 1, 2}, 0, 1).Offer(1, era.AppendMessage(nil, era.Down{Value: late}))
	r.heap.Prepare(0, 2, 1)
	r.heap.Prepare(3, 2, 1)
	other := NewSeries(Config{N: 2, Me: 1, Tag: 2, Memory: r.open([]int{0, 3}, 2, 1)})
	other.Step(Failed{Rank: 0})
	claim := era.Claim{Call: 1, Rank: 1}
	require.Len(t, other.Step(Propose{Value: era.Value{Flag: 1, Lo: claim, Hi: claim}}), 1)
	require.Empty(t, r.propose(2))
	require.Empty(t, r.members[2].Step(Look{}))
}
