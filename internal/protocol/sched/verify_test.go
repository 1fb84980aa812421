package sched

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

var long = flag.Bool("long", false, "verify more roots, shapes and orders; a quarter of an hour, so -timeout 40m")

// sampled runs see fewer ranks.
func sampled() bool { return (testing.Short() || raced) && !*long }

// TestVerify verifies every builder, for 1 to 12 ranks (long tests: 64) and beyond.
func TestVerify(t *testing.T) {
	var v Verifier
	var total tally
	begun := time.Now()
	for _, a := range Algorithms() {
		var k tally
		most := longtest.N(12, 64)
		if sampled() {
			most = 9
		}
		for n := 1; n <= most; n++ {
			k.roots += len(roots(&a, n))
			for _, c := range cases(&a, n) {
				k.verify(t, &v, &a, c, Orders(seeded(n)))
			}
		}
		for _, n := range beyond(&a) {
			k.roots += len(roots(&a, n))
			for _, root := range roots(&a, n) {
				c := Case{N: n, Root: root, Count: big(&a, n), Segment: 64}
				if maps := nodeMaps(&a, n); maps != nil {
					c.Nodes = maps[n%len(maps)]
				}
				k.verify(t, &v, &a, c, Orders(0)[:1])
			}
		}
		t.Logf("%-32s %s", a.Name, &k)
		total.add(k)
	}
	t.Logf("%-32s %s in %v", fmt.Sprintf("%d builders", len(Algorithms())), &total, time.Since(begun).Round(time.Millisecond))
}

// A tally counts the verified pairs of n and root, their cases, and the executions of all ranks
// under some order.
type tally struct{ largest, roots, cases, runs, plans, steps, messages int }

func (k *tally) add(b tally) {
	k.largest, k.roots = max(k.largest, b.largest), k.roots+b.roots
	k.cases, k.runs, k.plans = k.cases+b.cases, k.runs+b.runs, k.plans+b.plans
	k.steps, k.messages = k.steps+b.steps, k.messages+b.messages
}

func (k *tally) String() string {
	return fmt.Sprintf("n to %4d, %5d x root, %6d cases, %6d executions; %7d plans, %9d steps, %8d messages",
		k.largest, k.roots, k.cases, k.runs, k.plans, k.steps, k.messages)
}

func (k *tally) verify(t *testing.T, v *Verifier, a *Algorithm, c Case, orders []Order) {
	t.Helper()
	if !a.Fits(&c) {
		return
	}
	before := v.Runs()
	if err := v.Verify(a, &c, orders); err != nil {
		t.Fatalf("%s, %+v: %v", a.Name, c, err)
	}
	messages, _ := a.Claim(&c)
	steps := 0
	for r := range v.Plans {
		steps += len(v.Plans[r].Steps)
	}
	k.add(tally{largest: c.N, cases: 1, runs: v.Runs() - before, plans: c.N, steps: steps, messages: messages})
}

// roots returns all ranks if there are few, else the ranks at the ends, in the middle, and below a
// power of two.
func roots(a *Algorithm, n int) []int {
	if !a.Verb.Rooted() {
		return []int{0}
	}
	var all []int
	for r := range n {
		if n <= 17 || r == 0 || r == n-1 || n <= 129 && (r == n/2 || r == 31) || *long && n <= 64 {
			all = append(all, r)
		}
	}
	return all
}

// seeded returns the number of seeded orders besides the two extremes.
func seeded(n int) int {
	switch {
	case n <= 17 && *long:
		return 6
	case n <= 17:
		return 2
	case *long:
		return 1
	}
	return 0
}

// cases returns the roots, nodes, block shapes and segmentations for n ranks: each alone for few
// ranks, together for many.
func cases(a *Algorithm, n int) []Case {
	var all []Case
	for _, root := range roots(a, n) {
		base := Case{N: n, Root: root, Count: n + 3, Seed: uint64(n*100 + root)}
		if blocks(a) {
			base.Count = 2
		}
		add := func(change func(c *Case)) {
			c := base
			change(&c)
			all = append(all, c)
		}
		add(func(c *Case) {})
		for i, nodes := range nodeMaps(a, n) {
			if n > 17 && root > 0 && i != root%4 && !*long {
				continue
			}
			add(func(c *Case) { c.Nodes, c.InPlace, c.Segment = nodes, a.InPlace, 4 })
		}
		if n > 17 && !*long {
			add(func(c *Case) { c.Segment, c.InPlace, c.Layout = 4, a.InPlace, a.Blocks })
			continue
		}
		add(func(c *Case) { c.InPlace = true })
		add(func(c *Case) { c.Count = 0 })
		add(func(c *Case) { c.Count = 1 })
		if a.Segmented {
			add(func(c *Case) { c.Segment, c.InPlace = 4, a.InPlace })
			add(func(c *Case) { c.Segment, c.Count = 1, 2*n-1 })
			add(func(c *Case) { c.Segment, c.Count = 4, 22*n+1 }) // pieces cut unevenly into uneven segments
		}
		if a.Name == "bcast/knomial" {
			for radix := 2; radix <= 8; radix++ {
				add(func(c *Case) { c.Radix = radix })
			}
		}
		for l := Packed; l <= a.Blocks; l++ {
			add(func(c *Case) { c.Layout = l })
			add(func(c *Case) { c.Layout, c.InPlace = l, true })
			add(func(c *Case) { c.Layout, c.Count, c.Seed = l, 3, c.Seed+1 })
		}
	}
	return all
}

// nodeMaps returns the nodes of n ranks with which a two-level algorithm is tried, besides one node
// for all: a node for each rank, blocks of four, round robin on three, and random uneven nodes.
// Other algorithms ignore the nodes.
func nodeMaps(a *Algorithm, n int) [][]int {
	if !twoLevel(a) {
		return nil
	}
	each := func(node func(r int) int) (nodes []int) {
		for r := range n {
			nodes = append(nodes, node(r))
		}
		return nodes
	}
	draw := Case{Seed: uint64(n)}
	return [][]int{
		each(func(r int) int { return r }),
		each(func(r int) int { return r / 4 }),
		each(func(r int) int { return -(r % 3) }),
		each(func(r int) int { return 1 << draw.draw(1+floorLog2(n), saltPlace, r, 0) }),
	}
}

func twoLevel(a *Algorithm) bool { return strings.HasSuffix(a.Name, "/two-level") }

// blocks reports whether the count of a case is the length of a block.
func blocks(a *Algorithm) bool {
	return a.Blocks > Uniform || a.Verb == Gather || a.Verb == Scatter || a.Verb == Allgather || a.Verb == Alltoall
}

// beyond returns numbers of ranks around larger powers of two, up to 1025 for algorithms that are
// cheap to verify: few steps for most ranks.
func beyond(a *Algorithm) []int {
	if sampled() {
		return []int{16, 17, 33}
	}
	ns := []int{127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025}
	var p Plan
	s := Shape{N: 1024, Me: 511, Count: 1}
	switch a.Build(&p, &s); {
	case *long:
		return ns
	case len(p.Steps) > 64:
		return ns[:3]
	case twoLevel(a): // every rank reads the nodes of all ranks
		return ns[:6]
	}
	return ns
}

// big returns the count for the numbers of ranks of beyond: one element for each piece if the
// vector is cut, else a small number.
func big(a *Algorithm, n int) int {
	switch {
	case blocks(a):
		return 1
	case strings.Contains(a.Name, "rabenseifner"), strings.Contains(a.Name, "ring"), strings.Contains(a.Name, "scatter"):
		return n + 1
	}
	return 70
}
