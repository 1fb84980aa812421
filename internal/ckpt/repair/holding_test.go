package repair

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
)

// TestMadeOn: a copy of a version that a world of another size has made keeps that placement. (In
// internal/testing/sim/repairs there are worlds in which the next death precedes the next commit.)
func TestMadeOn(t *testing.T) {
	assert.Equal(t, []int{7}, Plan{Size: 1, Nodes: []int{7}}.MadeOn([]int{7, 8}))
	assert.Equal(t, []int{7, 8}, Plan{Size: 2, Nodes: []int{5, 8}}.MadeOn([]int{7, 8}), "restored here since")
}

// TestHolding: shares of a placement other than the version's are separate entries.
func TestHolding(t *testing.T) {
	l, here, before := Label{Epoch: 1, Number: 2}, []int{0, 1}, []int{2, 3}
	shares := func(yield func(int, []int) bool) { _ = yield(1, here) && yield(0, before) }
	got := Holding(l, here, maps.Keys(map[int]bool{0: true, 1: true}), shares)
	assert.Equal(t, []Held{
		{Label: l, Nodes: here, Data: rankset.Of(0, 1), Parity: rankset.Of(1)},
		{Label: l, Nodes: before, Parity: rankset.Of(0)},
	}, got)
}

// TestNeeds: a rank needs its part and those of which it keeps copies, and all parts in a world of
// another size.
func TestNeeds(t *testing.T) {
	plan := Plan{Size: 2, Layout: redundancy.Partners([]int{0, 1}, 1)}
	needed, ok := plan.Needs(Run{Size: 2, Rank: 0})
	assert.True(t, ok)
	assert.Equal(t, rankset.Of(0, 1), needed)
	_, ok = plan.Needs(Run{Size: 3, Rank: 0})
	assert.False(t, ok)
	assert.True(t, Run{Rank: 1}.KeepsShare(1, []int{0, 1}, []int{0, 1}))
	assert.False(t, Run{Rank: 1}.KeepsShare(0, []int{0, 1}, []int{0, 1}), "of another rank")
	assert.False(t, Run{Rank: 1}.KeepsShare(1, []int{0, 2}, []int{0, 1}), "of another placement")
}

// TestIsStale: a home keeps the parts of this attempt, and the restored part of its rank.
func TestIsStale(t *testing.T) {
	restored := Label{Epoch: 1, Number: 4}
	plan := Plan{Source: FromMemory, Label: restored, Epoch: 2, Size: 2}
	run := Run{Size: 2, Rank: 0}
	assert.False(t, plan.IsStale(restored, 0, run))
	assert.True(t, plan.IsStale(restored, 1, run), "its rank has it by now")
	assert.False(t, plan.IsStale(restored, 1, Run{Size: 3, Rank: 0}), "of a world of another size")
	assert.True(t, plan.IsStale(Label{Epoch: 1, Number: 5}, 0, run), "of an earlier attempt")
	assert.False(t, plan.IsStale(Label{Epoch: 2, Number: 5}, 0, run))
}

// TestReads: the lowest rank of a node reads homes whose owners are elsewhere or nowhere.
func TestReads(t *testing.T) {
	nodes, homes := []int{0, 0, 1}, []int{0, 1, 2}
	assert.True(t, Run{Rank: 0, Homes: homes}.Reads(2, nodes), "its owner is on another node")
	assert.True(t, Run{Rank: 0, Homes: homes}.Reads(3, nodes), "without an owner")
	assert.False(t, Run{Rank: 0, Homes: homes}.Reads(1, nodes), "its owner is here")
	assert.False(t, Run{Rank: 1, Homes: homes}.Reads(2, nodes), "not the lowest rank of the node")
}
