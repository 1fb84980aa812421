package sched

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAgainstSequential runs every builder on real contents in a minimal network, and compares with
// a sequential computation that does not use blocks, shapes or the verifier. Elements are strings,
// and the operation concatenates them.
func TestAgainstSequential(t *testing.T) {
	checked := 0
	for _, a := range Algorithms() {
		for n := 1; n <= 9; n++ {
			for _, root := range roots(&a, n) {
				for _, count := range []int{0, 1, n, n + 4} {
					if a.Even && n%2 != 0 && n > 1 {
						continue
					}
					want := sequential(a.Verb, n, root, count)
					for _, nodes := range append(nodeMaps(&a, n), nil) {
						got := runStrings(&a, n, root, count, nodes)
						for r := range n {
							g, w := got[r], want[r]
							if a.Commutative {
								g, w = letters(g), letters(w)
							}
							if !slices.Equal(g, w) {
								t.Fatalf("%s n=%d root=%d count=%d nodes=%v: rank %d has %q, want %q", a.Name, n, root, count, nodes, r, g, w)
							}
							checked++
						}
					}
				}
			}
		}
	}
	t.Logf("%d results compared", checked)
}

// letters sorts the contributions of each element.
func letters(s []string) []string {
	s = slices.Clone(s)
	for i := range s {
		parts := strings.Fields(s[i])
		slices.Sort(parts)
		s[i] = strings.Join(parts, " ")
	}
	return s
}

// name is element i of the block from rank r for rank to.
func name(r, to, i int) string { return fmt.Sprintf("%d>%d.%d ", r, to, i) }

// sequential returns the expected result of each rank. A vector counts as block 0, or as all blocks
// one behind the other.
func sequential(v Verb, n, root, count int) [][]string {
	res := make([][]string, n)
	fold := func(lo, hi, block, i int) (s string) {
		for r := lo; r < hi; r++ {
			s += name(r, block, i)
		}
		return s
	}
	for r := range n {
		each := func(f func(i int) string) {
			for i := range count {
				res[r] = append(res[r], f(i))
			}
		}
		switch v {
		case Bcast:
			each(func(i int) string { return name(root, 0, i) })
		case ReduceTo:
			if r == root {
				each(func(i int) string { return fold(0, n, 0, i) })
			}
		case Allreduce:
			each(func(i int) string { return fold(0, n, 0, i) })
		case Scan:
			each(func(i int) string { return fold(0, r+1, 0, i) })
		case Exscan:
			each(func(i int) string { return fold(0, r, 0, i) })
		case ReduceScatter:
			each(func(i int) string { return fold(0, n, r, i) })
		case Scatter:
			each(func(i int) string { return name(root, r, i) })
		case Gather, Allgather, Alltoall:
			if v == Gather && r != root {
				continue
			}
			block := 0
			if v == Alltoall {
				block = r
			}
			for from := range n {
				each(func(i int) string { return name(from, block, i) })
			}
		case NeighborAllgather, NeighborAlltoall: // a ring: down, up
			for k, from := range []int{(r + n - 1) % n, (r + 1) % n} {
				block := 0
				if v == NeighborAlltoall {
					if block = k; n > 2 {
						block = 1 - k // this rank is above its lower neighbour
					} // of two edges from one rank the k-th meets the k-th
				}
				each(func(i int) string { return name(from, block, i) })
			}
		}
	}
	return res
}

// stringRank is one rank of the minimal network.
type stringRank struct {
	plan Plan
	exec Exec
	bufs [3][]string
	op   func(x, y string) string
}

func (k *stringRank) at(r Ref, n int) []string { return k.bufs[r.Buf][r.Off : r.Off+n] }

func (k *stringRank) Do(i int) {
	s := &k.plan.Steps[i]
	for e, x := range k.at(s.Src, s.Len) {
		if s.Kind == Reduce {
			x = k.op(x, k.at(s.With, s.Len)[e])
		}
		k.at(s.Dst, s.Len)[e] = x
	}
}

func runStrings(a *Algorithm, n, root, count int, nodes []int) [][]string {
	return runReal(a, n, root, count, nodes, func(x, y string) string { return x + y }, name)
}

// runReal executes the plans: ranks in turn, every message at once into a queue
// per pair.
func runReal(a *Algorithm, n, root, count int, nodes []int, op func(x, y string) string, name func(r, to, i int) string) [][]string {
	ranks := make([]stringRank, n)
	queues := map[[2]int][][]string{}
	waiting := map[[2]int][]int{}
	for r := range ranks {
		k := &ranks[r]
		k.op = op
		s := Shape{N: n, Me: r, Root: root, Count: count, Segment: 3, Nodes: nodes}
		inLen, outLen := lengths(a.Verb, r == root, n, count)
		if a.Verb == NeighborAllgather || a.Verb == NeighborAlltoall {
			s.Sources, s.Dests = []int{(r + n - 1) % n, (r + 1) % n}, []int{(r + n - 1) % n, (r + 1) % n}
		}
		a.Build(&k.plan, &s)
		k.bufs = [3][]string{make([]string, inLen), make([]string, outLen), make([]string, k.plan.Scratch)}
		for i := range k.bufs[Input] {
			k.bufs[Input][i] = name(r, i/max(count, 1), i%max(count, 1))
		}
		if a.Verb == Bcast && r == root {
			for i := range k.bufs[Output] {
				k.bufs[Output][i] = name(r, 0, i)
			}
		}
		k.exec.Start(&k.plan, k)
	}
	for moved := true; moved; {
		moved = false
		for r := range ranks {
			k := &ranks[r]
			for i, ok := k.exec.Next(); ok; i, ok = k.exec.Next() {
				moved = true
				s := &k.plan.Steps[i]
				if s.Kind == Send {
					pair := [2]int{r, int(s.Peer)}
					queues[pair] = append(queues[pair], slices.Clone(k.at(s.Src, s.Len)))
					k.exec.Completed(i)
				} else {
					pair := [2]int{int(s.Peer), r}
					waiting[pair] = append(waiting[pair], i)
				}
			}
			for from := range ranks {
				for pair := [2]int{from, r}; len(queues[pair]) > 0 && len(waiting[pair]) > 0; moved = true {
					s := &k.plan.Steps[waiting[pair][0]]
					copy(k.at(s.Dst, s.Len), queues[pair][0])
					k.exec.Completed(waiting[pair][0])
					queues[pair], waiting[pair] = queues[pair][1:], waiting[pair][1:]
				}
			}
		}
	}
	res := make([][]string, n)
	for r := range ranks {
		if done, err := ranks[r].exec.Done(); !done || err != nil {
			panic(fmt.Sprintf("%s n=%d: rank %d: %v %v\n%v", a.Name, n, r, done, err, &ranks[r].plan))
		}
		res[r] = ranks[r].bufs[Output]
		if len(res[r]) == 0 {
			res[r] = nil
		}
	}
	return res
}

// lengths of Input and Output in the textbook layout.
func lengths(v Verb, root bool, n, count int) (input, output int) {
	switch v {
	case Barrier:
		return 0, 0
	case Bcast:
		return 0, count
	case ReduceTo:
		if !root {
			return count, 0
		}
		return count, count
	case Gather:
		if !root {
			return count, 0
		}
		return count, n * count
	case Scatter:
		if !root {
			return 0, count
		}
		return n * count, count
	case Allgather:
		return count, n * count
	case Alltoall:
		return n * count, n * count
	case ReduceScatter:
		return n * count, count
	case NeighborAllgather:
		return count, 2 * count
	case NeighborAlltoall:
		return 2 * count, 2 * count
	}
	return count, count
}
