package sched

import (
	"math/bits"
	"slices"
)

// nodeSizes returns the number of ranks on each node of the case. The nodes are in the order of
// their lowest ranks, from the root's node on, cyclically.
func (c *Case) nodeSizes() (sizes []int) {
	s := Shape{Nodes: c.Nodes}
	known, roots := map[int]int{}, 0
	for r := range c.N {
		i, is := known[s.node(r)]
		if !is {
			i = len(sizes)
			known[s.node(r)], sizes = i, append(sizes, 0)
		}
		sizes[i]++
		if r == c.Root {
			roots = i
		}
	}
	return slices.Concat(sizes[roots:], sizes[:roots])
}

// claimTwoLevelTree: the depth of leader i is the number of one bits of i.
func claimTwoLevelTree(c *Case) (messages, depth int) {
	for i, size := range c.nodeSizes() {
		depth = max(depth, bits.OnesCount(uint(i))+floorLog2(size))
	}
	return (c.N - 1) * c.segments(c.Count), depth
}

// claimTwoLevelGather: a message passes through its leader, unless the leader is the root.
func claimTwoLevelGather(c *Case) (messages, depth int) {
	sizes := c.nodeSizes()
	depth = atOnce(c.N)
	if slices.ContainsFunc(sizes[1:], func(size int) bool { return size > 1 }) {
		depth = 2
	}
	return c.N - 1, depth
}

// claimTwoLevelBarrier: up a binomial tree and down again.
func claimTwoLevelBarrier(c *Case) (messages, depth int) {
	leaders, depth := c.throughLeaders(floorLog2, disseminated)
	return 2*(c.N-leaders) + leaders*ceilLog2(leaders), depth
}

func claimTwoLevelAllreduce(c *Case) (messages, depth int) {
	return c.twoLevelFolded(floorLog2)
}

func claimTwoLevelAllgather(c *Case) (messages, depth int) {
	return c.twoLevelFolded(atOnce)
}

// twoLevelFolded: chains of length up lead to a leader, and a binomial tree leads down again.
func (c *Case) twoLevelFolded(up func(size int) int) (messages, depth int) {
	leaders, depth := c.throughLeaders(up, doubledUp)
	messages, _ = folded(&Case{N: leaders})
	return 2*(c.N-leaders) + messages, depth
}

// throughLeaders returns the longest chain up to the leader of a node, through the exchange of the
// leaders, and down a binomial tree. If nodes have different sizes, this chain need not contain the
// longest chain of the exchange, so the exchange is computed leader by leader: deep holds the
// longest chain to each leader, first before and then after the exchange.
func (c *Case) throughLeaders(up func(size int) int, exchange func(deep []int)) (leaders, depth int) {
	sizes := c.nodeSizes()
	var deep []int
	for _, size := range sizes {
		deep = append(deep, up(size))
	}
	exchange(deep)
	for i, size := range sizes {
		depth = max(depth, deep[i]+floorLog2(size))
	}
	return len(sizes), depth
}

// disseminated: the message of a round waits for the rounds that its receiver still needs.
func disseminated(deep []int) {
	n := len(deep)
	came := make([][]int, n)
	for d := 1; d < n; d <<= 1 {
		rounds := ceilLog2(min(d, n-d))
		for to := range n {
			from := (to + n - d) % n
			came[to] = append(came[to], 1+slices.Max(append(slices.Clone(came[from][:rounds]), deep[from])))
		}
	}
	for i, c := range came {
		deep[i] = slices.Max(append(c, deep[i]))
	}
}

// doubledUp is recursive doubling: a rank beyond a power of two sends to the rank before, and gets
// the result back.
func doubledUp(deep []int) {
	pairs := len(deep) - 1<<floorLog2(len(deep))
	var core []int
	for i, d := range deep {
		switch {
		case i >= 2*pairs || i%2 == 0:
			core = append(core, d)
		default:
			core[i/2] = max(core[i/2], d+1)
		}
	}
	for d := 1; d < len(core); d <<= 1 {
		before := slices.Clone(core)
		for v := range core {
			core[v] = max(before[v], before[v^d]+1)
		}
	}
	for i := range deep {
		switch {
		case i >= 2*pairs:
			deep[i] = core[i-pairs]
		default:
			deep[i] = core[i/2] + i%2
		}
	}
}
