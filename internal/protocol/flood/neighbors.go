package flood

import (
	"math/bits"
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
)

// Neighbors returns the neighbours of member me in the circulant graph of n members: me ± 2^i mod n
// for i = 0, 1, ..., without me and without duplicates, in ascending order. The graph is a function
// of the original membership, so all members agree on it even if they know of different deaths (B7,
// B8). The relation is symmetric.
func Neighbors(n, me int) []int {
	must.That(0 <= me && me < n, "member %d of %d", me, n)
	out := make([]int, 0, 2*bits.Len(uint(n)))
	for step := 1; step < n; step *= 2 {
		out = append(out, (me+step)%n, (me-step+n)%n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
