package redundancy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/base/rankset"
)

// sizeMax is the greatest size of a world for which all placements and all losses are tried.
const sizeMax = 6

// TestEveryPlacementAndLoss: for every way to place up to six ranks on nodes, every layout
// and every set of ranks whose memory is lost, the plan restores each part from the remaining
// data, exactly if the layout calls the loss recoverable. Afterwards the layout can be made whole
// again.
func TestEveryPlacementAndLoss(t *testing.T) {
	losses, recovered := 0, 0
	everyLayout(sizeMax, func(name string, nodes []int, l Layout) {
		for lost := range subsets(l.Size()) {
			losses++
			have := Full(l)
			for r := range lost.All() {
				have.Data[r], have.Parity[r] = rankset.Set{}, rankset.Set{}
			}
			server := Servers(have, l.Size())
			steps, ok := Restore(l, have, server)
			if ok != l.Recoverable(lost) || ok != dumbRecoverable(l, lost) {
				t.Fatalf("%s on %v, lost %v: recoverable %v, by counting %v, plan found %v", name, nodes, lost, l.Recoverable(lost), dumbRecoverable(l, lost), ok)
			}
			if !ok {
				continue
			}
			recovered++
			checkSteps(t, have, steps)
			Apply(have, steps)
			for r := range l.Size() {
				require.True(t, have.Data[r].Has(r), "%s on %v, lost %v: part %d", name, nodes, lost, r)
			}
			checkWhole(t, l, have)
		}
	})
	assert.Greater(t, recovered, losses/4, "of %d", losses)
	assert.Less(t, recovered, losses)
}

// TestStrength: a rank that is not weak survives the loss of any Strength() nodes, and a weak rank
// of a Mirror does not survive some loss.
func TestStrength(t *testing.T) {
	everyLayout(sizeMax, func(name string, nodes []int, l Layout) {
		fatal := map[int]bool{} // ranks that lose their part in some loss
		for dead := range subsets(l.Size()) {
			if dead.Len() > l.Strength() {
				continue
			}
			lost := OnNodes(nodes, dead)
			for r := range l.Size() {
				if !survives(l, r, lost) {
					fatal[r] = true
				}
			}
		}
		for r := range l.Size() {
			if fatal[r] && !l.Weak().Has(r) {
				t.Fatalf("%s on %v: rank %d is called strong", name, nodes, r)
			}
			if m, is := l.(Mirror); is && !fatal[r] && l.Weak().Has(r) && m.Strength() > 0 {
				t.Fatalf("%s on %v: rank %d is called weak", name, nodes, r)
			}
		}
	})
}

// TestPairs: with one copy, each rank keeps one part, of another node. If a node has more than half
// of the ranks, the ranks of the other nodes share its parts evenly.
func TestPairs(t *testing.T) {
	for n := 2; n <= sizeMax; n++ {
		for nodes := range placements(n) {
			m := Partners(nodes, 1)
			most := 0
			for _, ranks := range members(nodes) {
				most = max(most, len(ranks))
			}
			assert.Equal(t, most == n, !m.Weak().IsEmpty(), "%v", nodes)
			for r := range n {
				k := m.Keepers(r)[0]
				assert.NotEqual(t, r, k)
				if most > (n+1)/2 && most < n {
					others := n - most
					assert.LessOrEqual(t, m.KeptBy(r).Len(), max(1, (most+others-1)/others), "%v: %d", nodes, r)
					continue
				}
				assert.LessOrEqual(t, m.KeptBy(r).Len(), 2, "%v", nodes)
				if n%2 == 0 && (most <= n/2 || most == n) {
					assert.Equal(t, []int{r}, m.Keepers(k), "a pair")
				}
			}
		}
	}
}

// TestRandomPairOfDeaths: among an even number of equal nodes, n/2 of the pairs of nodes
// cost data, not n as in a ring.
func TestRandomPairOfDeaths(t *testing.T) {
	var nodes []int
	for r := range 24 {
		nodes = append(nodes, r/3) // 8 nodes of 3
	}
	m := Partners(nodes, 1)
	fatal := 0
	for a := range 8 {
		for b := range a {
			if !m.Recoverable(OnNodes(nodes, rankset.Of(a, b))) {
				fatal++
			}
		}
	}
	assert.Equal(t, 4, fatal)
}

// TestErasureOnSixNodes: with 4+2 all pairs of six nodes may be lost and no triple, and
// the four ranks of a node are in four groups.
func TestErasureOnSixNodes(t *testing.T) {
	var nodes []int
	for r := range 24 {
		nodes = append(nodes, r/4)
	}
	c := Erasure(nodes, 4, 2)
	require.Len(t, c.Groups(), 4)
	assert.True(t, c.Weak().IsEmpty())
	for dead := range subsets(6) {
		assert.Equal(t, dead.Len() <= 2, c.Recoverable(OnNodes(nodes, dead)), "%v", dead)
	}
	small := Erasure(nodes[:7], 4, 2) // nodes 0 and 1
	assert.Equal(t, 7, small.Weak().Len(), "two nodes cannot lose two")
	assert.Equal(t, 1, Erasure([]int{5}, 4, 2).Weak().Len())
	assert.Empty(t, Erasure(nil, 4, 2).Groups())
}

// TestStripes: in the stripes of a group each member has each of its parts once, and as many pieces
// of parity as the number of losses that the group tolerates.
func TestStripes(t *testing.T) {
	for d := 1; d <= 5; d++ {
		for p := 0; p <= 4; p++ {
			g := Group{Parity: p}
			for r := range d + p {
				g.Members = append(g.Members, 10*r)
			}
			parts, shares := map[[2]int]int{}, map[int]int{}
			for s := range g.Stripes() {
				st := g.Stripe(s)
				assert.Equal(t, d+p, rankset.Of(append(st.Data, st.Parity...)...).Len(), "all members, once")
				for j, r := range st.Data {
					parts[[2]int{r, j}]++
				}
				for _, r := range st.Parity {
					shares[r]++
				}
			}
			assert.Len(t, parts, d*(d+p), "d=%d p=%d: each part of each member once", d, p)
			for _, r := range g.Members {
				assert.Equal(t, p, shares[r])
			}
		}
	}
}

// TestRestoreIsSpread: a keeper of many parts does not send all of them if other processes have
// them, too.
func TestRestoreIsSpread(t *testing.T) {
	l := Partners([]int{0, 1, 2, 3, 4, 5}, 2)
	have := Full(l)
	for _, r := range []int{1, 3} {
		have.Data[r] = rankset.Set{}
	}
	steps, ok := Restore(l, have, Servers(have, 6))
	require.True(t, ok)
	assert.Equal(t, []Step{Send{1, 2, 1}, Send{3, 4, 3}}, steps)
}

// TestServersAfterShrink: a part stays at a process that has it; otherwise the process with the
// fewest parts gets it.
func TestServersAfterShrink(t *testing.T) {
	have := NewHoldings(3)
	have.Data[0] = rankset.Of(0, 1, 2) // 1 and 2 were left behind on its node
	have.Data[2] = rankset.Of(4, 2)
	assert.Equal(t, []int{0, 0, 2, 1, 2}, Servers(have, 5))
	assert.Equal(t, []int{0, 1, 2}, Servers(have, 3), "the same size: everybody his own")
}

func checkSteps(t *testing.T, have Holdings, steps []Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case Send:
			require.True(t, have.Data[s.From].Has(s.Owner), "%+v", s)
			require.NotEqual(t, s.From, s.To)
		case Rebuild:
			for _, d := range s.Data {
				require.True(t, have.Data[d.From].Has(d.Owner), "%+v", s)
			}
			for _, p := range s.Parity {
				require.True(t, have.Parity[p.From].Has(p.Owner), "%+v", s)
			}
			require.GreaterOrEqual(t, len(s.Data)+len(s.Parity), s.Group.Parts())
		}
	}
}

func checkWhole(t *testing.T, l Layout, have Holdings) {
	steps := Complete(l, have)
	for _, s := range steps {
		if s, is := s.(Send); is {
			require.True(t, have.Data[s.From].Has(s.Owner) && !have.Data[s.To].Has(s.Owner), "%+v", s)
		}
	}
	Apply(have, steps)
	full := Full(l)
	for r := range l.Size() {
		require.True(t, full.Data[r].SubsetOf(have.Data[r]) && full.Parity[r].SubsetOf(have.Parity[r]))
	}
	require.Empty(t, Complete(l, have), "nothing is made twice")
}

// dumbRecoverable checks each part on its own.
func dumbRecoverable(l Layout, lost rankset.Set) bool {
	for r := range l.Size() {
		if !survives(l, r, lost) {
			return false
		}
	}
	return true
}

// survives reports whether the part of rank r can be restored: from some memory, or because each
// stripe of its group has lost at most as many pieces as it has parity.
func survives(l Layout, r int, lost rankset.Set) bool {
	if !lost.Has(r) {
		return true
	}
	switch l := l.(type) {
	case Mirror:
		for _, k := range l.Keepers(r) {
			if !lost.Has(k) {
				return true
			}
		}
	case Code:
		g := l.Groups()[l.GroupOf(r)]
		gone := 0
		for _, m := range g.Members { // each member has one piece in every stripe
			if lost.Has(m) {
				gone++
			}
		}
		return gone <= g.Parity
	}
	return false
}

// everyLayout calls f for all layouts over all placements of up to n ranks.
func everyLayout(n int, f func(name string, nodes []int, l Layout)) {
	for size := 1; size <= n; size++ {
		for nodes := range placements(size) {
			f("alone", nodes, Alone(nodes))
			for k := 1; k <= 3; k++ {
				f(fmt.Sprintf("partners(%d)", k), nodes, Partners(nodes, k))
			}
			for d := 1; d <= 4; d++ {
				for p := 0; p <= 2; p++ {
					f(fmt.Sprintf("erasure(%d,%d)", d, p), nodes, Erasure(nodes, d, p))
				}
			}
		}
	}
}

// placements yields every way to place n ranks on nodes, except for permutations of the nodes.
func placements(n int) func(func([]int) bool) {
	return func(yield func([]int) bool) {
		nodes := make([]int, n)
		var place func(r, used int) bool
		place = func(r, used int) bool {
			if r == n {
				return yield(append([]int(nil), nodes...))
			}
			for node := range used + 1 {
				nodes[r] = node
				if !place(r+1, max(used, node+1)) {
					return false
				}
			}
			return true
		}
		place(0, 0)
	}
}

// subsets yields every set of the ranks 0 to n-1.
func subsets(n int) func(func(rankset.Set) bool) {
	return func(yield func(rankset.Set) bool) {
		for bits := range uint64(1) << n {
			if !yield(rankset.FromWords([]uint64{bits})) {
				return
			}
		}
	}
}
