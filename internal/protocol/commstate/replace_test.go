package commstate

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/ulfm"
)

// replaceValue is the decision of 3 members that give ranks to processes from 20 on. The root has
// started count of these processes.
func replaceValue(count int, ranks func(r int) []int, veto int) era.Value {
	return value(3, rankset.Set{}, func(r int) Propose {
		p := Propose{Call: Call{Kind: KindReplace}, Index: uint32(100 + r), Digest: Digest(ranks(r)...), Veto: r == veto}
		if r == 0 {
			p.Spawned = Spawned{First: 20, Count: count}
		}
		return p
	})
}

func replaceOutcome(me int, ranks []int, v era.Value) Outcome {
	p := proposal(KindReplace)
	p.Ranks, p.Index = ranks, uint32(100+me)
	return group(3, me).Outcome(p, v)
}

// TestReplacePutsReplacementsInTheirRanks: replacements get the named ranks in the order of the
// names; the members have the other ranks in their old order.
func TestReplacePutsReplacementsInTheirRanks(t *testing.T) {
	for _, c := range []struct {
		ranks, procs []int
		fresh        bool
	}{
		{[]int{3}, []int{10, 11, 12, 20}, false},
		{[]int{1, 3}, []int{10, 20, 11, 21, 12}, false},
		{[]int{3, 0}, []int{21, 10, 11, 20, 12}, true},
	} {
		v := replaceValue(len(c.ranks), func(int) []int { return c.ranks }, -1)
		for me := range 3 {
			out := replaceOutcome(me, c.ranks, v)
			assert.NoError(t, out.Err)
			assert.Equal(t, c.procs, out.New.Procs)
			assert.Equal(t, 10+me, out.New.Procs[out.New.Me])
			assert.Equal(t, uint32(100+me), out.New.Indices[out.New.Me])
			assert.Equal(t, c.fresh, out.New.Fresh, "whether nobody has prepared the first one's memory")
			assert.Equal(t, c.fresh, out.New.Indices[0] == SpawnedIndex)
		}
	}
}

// TestReplaceFailsForAll: because of a death, a vote against it, too few processes, other ranks.
func TestReplaceFailsForAll(t *testing.T) {
	one := func(int) []int { return []int{1} }
	dead := replaceValue(1, one, -1)
	dead.Dead = rankset.Of(2)
	for want, v := range map[error]era.Value{
		ulfm.ErrProcFailed: dead,
		ErrPeerArgument:    replaceValue(1, one, 2),
		ErrScarce:          replaceValue(0, one, -1),
		ErrMismatch:        replaceValue(1, func(r int) []int { return []int{r} }, -1),
	} {
		for me := range 2 {
			out := replaceOutcome(me, []int{1}, v)
			assert.ErrorIs(t, out.Err, want)
			assert.Nil(t, out.New)
		}
	}
}

// TestReplaceIsARepair: a revocation does not end it.
func TestReplaceIsARepair(t *testing.T) {
	assert.Equal(t, SeriesRepair, KindReplace.Series())
	c := New(Config{Group: *group(3, 1)})
	c.Step(Propose{Token: 1, Call: Call{Kind: KindReplace}, Index: 7, Ranks: []int{0}})
	for _, a := range c.Step(Revoke{}) {
		_, gives := a.(GiveUp)
		assert.False(t, gives)
	}
	assert.Len(t, c.Open(), 1)
}
