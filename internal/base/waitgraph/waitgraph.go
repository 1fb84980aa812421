// Package waitgraph finds a cycle of ranks that wait for each other. The cycle proves that a job
// hangs, in a form that a person reads.
package waitgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Wait is one thing that a process waits for. Ranks are those of the world, also if the wait is
// on another communicator.
type Wait struct {
	Rank int    // the waiting rank
	On   []int  // the awaited ranks; empty: unknown, and the wait counts as one that can end
	Any  bool   // one of On can end the wait, as in a receive from any rank; otherwise all must act
	What string // the description in a report, as in the example of Text
}

// Cycle returns waits in a cycle: each wait is for the rank of the next one, and the last is for
// the rank of the first. Nil: no rank is stuck, as far as these waits show.
//
// A rank without a wait computes, and may do anything next. So may a rank with several waits, of as
// many goroutines, as long as one of them can end. If all such ranks are removed, repeatedly, each
// rank that remains is stuck for good, and waits for a stuck rank. The result is the cycle that is
// reached from the least stuck rank. The first wait is that of the cycle's least rank. The same
// list of waits gives the same cycle.
func Cycle(waits []Wait) []Wait {
	waits = slices.Clone(waits)
	slices.SortStableFunc(waits, func(a, b Wait) int { return cmp.Compare(a.Rank, b.Rank) })
	at := stuck(waits)
	if len(at) == 0 {
		return nil
	}
	first := slices.IndexFunc(waits, func(w Wait) bool { return at[w.Rank] })
	return leastFirst(walk(waits, at, waits[first].Rank))
}

// stuck returns the ranks that only have waits which cannot end.
func stuck(waits []Wait) map[int]bool {
	at := map[int]bool{}
	for _, w := range waits {
		at[w.Rank] = true
	}
	for changed := true; changed; {
		changed = false
		for _, w := range waits {
			if at[w.Rank] && !w.blocked(at) {
				delete(at, w.Rank)
				changed = true
			}
		}
	}
	return at
}

// blocked reports whether a wait cannot end while those ranks are stuck.
func (w Wait) blocked(stuck map[int]bool) bool {
	free := func(r int) bool { return !stuck[r] }
	if w.Any {
		return len(w.On) > 0 && !slices.ContainsFunc(w.On, free)
	}
	return slices.ContainsFunc(w.On, func(r int) bool { return stuck[r] })
}

// walk follows the waits from a stuck rank to a stuck rank, until a rank repeats, and returns the
// cycle at the end of this path.
func walk(waits []Wait, stuck map[int]bool, from int) []Wait {
	var path []Wait
	for {
		if i := slices.IndexFunc(path, func(w Wait) bool { return w.Rank == from }); i >= 0 {
			return path[i:]
		}
		w := waits[slices.IndexFunc(waits, func(w Wait) bool { return w.Rank == from })]
		path = append(path, w)
		from = w.On[slices.IndexFunc(w.On, func(r int) bool { return stuck[r] })]
	}
}

func leastFirst(circle []Wait) []Wait {
	least := 0
	for i, w := range circle {
		if w.Rank < circle[least].Rank {
			least = i
		}
	}
	return append(slices.Clone(circle[least:]), circle[:least]...)
}

// Text prints a cycle:
//
//	rank 2 (recv tag 7 from 3, heat.go:88) -> rank 3 (barrier on world) -> rank 2
func Text(circle []Wait) string {
	if len(circle) == 0 {
		return ""
	}
	var b strings.Builder
	for _, w := range circle {
		fmt.Fprintf(&b, "rank %d (%s) -> ", w.Rank, w.What)
	}
	fmt.Fprintf(&b, "rank %d", circle[0].Rank)
	return b.String()
}
