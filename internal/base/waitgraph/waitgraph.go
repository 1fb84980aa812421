// Package waitgraph finds a circle among those who wait for each other: the proof that
// a job hangs, in a form that a person reads.
package waitgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Wait is one thing that a process waits for. Ranks are those of the world, also
// where the wait is on another communicator.
type Wait struct {
	Rank int    // who waits
	On   []int  // for whom; empty: nobody knows, and it is taken for a wait that can end
	Any  bool   // one of On can end it, as with a receive from any rank; else it takes all
	What string // for people: "recv tag 7 from 3, heat.go:88"
}

// Cycle returns waits in a circle: the rank of each is one that the wait before it
// waits for, and the first one's rank one that the last waits for. Nil: no rank is
// stuck, as far as these waits tell.
//
// A rank without a wait computes, and may do anything next. So may one with several
// waits, by as many goroutines, as long as one of them can end. Whoever is left when
// all these have done what they can is stuck for good, and waits for another one who
// is. The circle is the one that is met from the least of them, and begins with its
// least rank; the same waits give the same circle.
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

// stuck returns the ranks none of whose waits can end.
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

// blocked says whether a wait cannot end while those ranks are stuck.
func (w Wait) blocked(stuck map[int]bool) bool {
	free := func(r int) bool { return !stuck[r] }
	if w.Any {
		return len(w.On) > 0 && !slices.ContainsFunc(w.On, free)
	}
	return slices.ContainsFunc(w.On, func(r int) bool { return stuck[r] })
}

// walk goes from a stuck rank to one that it waits for, and on, until it is where it
// has been, and returns the circle at the end.
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

// Text prints a circle:
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
