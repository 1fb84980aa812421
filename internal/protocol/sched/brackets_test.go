package sched

import (
	"fmt"
	"testing"
)

// TestBracketsDoNotDependOnTheRoot: a sum of floats in rank order is the same bit for bit at every
// root, and in the allreduce that is built on the same reduction.
func TestBracketsDoNotDependOnTheRoot(t *testing.T) {
	for n := 2; n <= 33; n++ {
		all := bracketsAt(findAlgorithm("allreduce/reduce-bcast"), n, 0, nil)
		for root := range n {
			if got := bracketsAt(findAlgorithm("reduce/in-order"), n, root, nil); got[root] != all[0] {
				t.Fatalf("n=%d root=%d: %s instead of %s", n, root, got[root], all[0])
			}
		}
	}
	if got, want := bracketsAt(findAlgorithm("reduce/in-order"), 6, 3, nil)[3], "(((0 1) (2 3)) (4 5))"; got != want {
		t.Errorf("%s instead of %s", got, want)
	}
}

// TestAllRanksHaveTheSameBrackets: every allreduce gives all ranks the same bits.
func TestAllRanksHaveTheSameBrackets(t *testing.T) {
	for _, a := range Algorithms() {
		for n := 1; n <= 17 && a.Verb == Allreduce; n++ {
			for _, nodes := range append(nodeMaps(&a, n), nil) {
				got := bracketsAt(&a, n, 0, nodes)
				for r := range n {
					if got[r] != got[0] {
						t.Fatalf("%s n=%d nodes=%v: rank %d has %s, rank 0 %s", a.Name, n, nodes, r, got[r], got[0])
					}
				}
			}
		}
	}
}

// bracketsAt reduces one element of each rank and returns the brackets of each rank's result.
func bracketsAt(a *Algorithm, n, root int, nodes []int) []string {
	res := make([]string, n)
	for r, o := range runReal(a, n, root, 1, nodes, func(x, y string) string { return "(" + x + " " + y + ")" },
		func(r, _, _ int) string { return fmt.Sprint(r) }) {
		if len(o) > 0 {
			res[r] = o[0]
		}
	}
	return res
}

// TestBineTreesAreShorter: the hops of a step are about two thirds of the hops of the same step of
// a binomial tree (De Sensi et al.).
func TestBineTreesAreShorter(t *testing.T) {
	for k := 4; k <= 10; k++ {
		n := 1 << k
		bine := hops(n, func(p *Plan, s *Shape) int { return p.bine(s) })
		binomial := hops(n, func(p *Plan, s *Shape) int { return p.knomial(s, 2) })
		ratio := float64(bine) / float64(binomial)
		t.Logf("n=%d: %d instead of %d, %.3f", n, bine, binomial, ratio)
		if ratio < 0.64 || ratio > 0.70 {
			t.Errorf("n=%d: hops of %d in all instead of %d", n, bine, binomial)
		}
	}
}

// hops is the sum of the distances of the root's messages on a ring, one in each step. The other
// messages of a step have the same distance.
func hops(n int, tree func(*Plan, *Shape) int) (sum int) {
	var p Plan
	s := Shape{N: n}
	tree(&p, &s)
	for _, kid := range p.kids {
		sum += min(kid, n-kid)
	}
	return sum
}
