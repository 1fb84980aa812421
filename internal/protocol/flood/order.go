package flood

import (
	"cmp"
	"math/bits"
	"slices"
)

// Order returns targets of member me in the order in which it sends them a set that it received
// from member from; from is me if it published the set itself. The messages of a binomial spanning
// tree rooted at the publisher come first (Zhong et al., PARCO 2019, section 4.6).
//
// In that tree the publisher sends to the members 1, 2, 4, ... above it, and a member that
// received over a step of 2^i sends over 2^(i+1), 2^(i+2), ... in the same direction. So the
// member from which a set came determines the rest of the tree, whatever the root is. If each member
// sends one message at a time, all n members know after log2 n of them, rounded up.
//
// The other neighbours follow, nearest first, then targets that are no neighbours.
func Order(n, me, from int, targets []int) []int {
	first, up := 0, true
	if from != me {
		first, up = step(n, from, me)
		first++
	}
	type place struct{ class, distance, back int }
	placeOf := func(to int) place {
		i, above := step(n, me, to)
		switch {
		case i < 0:
			return place{2, (to - me + n) % n, 0}
		case above == up && i >= first:
			return place{0, i, 0}
		case above:
			return place{1, i, 0}
		}
		return place{1, i, 1}
	}
	out := slices.Clone(targets)
	slices.SortFunc(out, func(a, b int) int {
		p, q := placeOf(a), placeOf(b)
		return cmp.Or(cmp.Compare(p.class, q.class), cmp.Compare(p.distance, q.distance), cmp.Compare(p.back, q.back))
	})
	return out
}

// step returns i if b is 2^i above a on the ring of n members, or below it. i is -1 if neither
// is true; the step upwards counts if both are.
func step(n, a, b int) (i int, up bool) {
	if d := uint((b - a + n) % n); bits.OnesCount(d) == 1 {
		return bits.TrailingZeros(d), true
	}
	if d := uint((a - b + n) % n); bits.OnesCount(d) == 1 {
		return bits.TrailingZeros(d), false
	}
	return -1, true
}
