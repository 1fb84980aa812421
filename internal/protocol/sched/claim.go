package sched

import "math/bits"

// The claims are formulas of the number of ranks, written independently of the plans.

func lessOne(n int) int { return n - 1 }
func half(n int) int    { return n / 2 }
func atOnce(n int) int  { return min(1, n-1) }

// perRound: every rank sends once in each round.
func perRound(rounds func(n int) int) func(*Case) (messages, depth int) {
	return func(c *Case) (int, int) { return c.N * rounds(c.N), rounds(c.N) }
}

// claimDissemination: log2 rounds. The last message waits only for the rounds that its receiver
// still needs.
func claimDissemination(c *Case) (messages, depth int) {
	rounds := ceilLog2(c.N)
	if rounds > 0 {
		lacks := c.N - 1<<(rounds-1)
		depth = max(rounds-1, ceilLog2(lacks)+1)
	}
	return c.N * rounds, depth
}

// perEdge: once along each edge of a tree.
func perEdge(depth func(n int) int) func(*Case) (messages, depth int) {
	return func(c *Case) (int, int) { return c.N - 1, depth(c.N) }
}

// perSegment: for each segment of the vector too.
func perSegment(depth func(n int) int) func(*Case) (messages, depth int) {
	return func(c *Case) (int, int) { return (c.N - 1) * c.segments(c.Count), depth(c.N) }
}

// folded: the core exchanges in log2 rounds; each other rank sends to its partner and gets the
// result back. A chain between two core ranks has a message for each bit in which they differ. With
// the message of a folded rank before, a chain can end at any core rank. With the message of a
// result after, the chain must end at a core rank that has a partner, too.
func folded(c *Case) (messages, depth int) {
	rounds := floorLog2(c.N)
	size := 1 << rounds
	if pairs := c.N - size; pairs > 0 {
		return size*rounds + 2*pairs, max(rounds+1, ceilLog2(pairs)+2)
	}
	return size * rounds, rounds
}

// claimRabenseifner: twice as many rounds, the second half backwards, so that a chain ends at its
// first rank.
func claimRabenseifner(c *Case) (messages, depth int) {
	rounds := 2 * floorLog2(c.N)
	size := 1 << floorLog2(c.N)
	return size*rounds + 2*(c.N-size), rounds + 2*min(1, c.N-size)
}

// claimRabenseifnerReduce: the second half has one message for each core rank except the root. The
// longest chain begins and ends at the root, or at its partner.
func claimRabenseifnerReduce(c *Case) (messages, depth int) {
	rounds := floorLog2(c.N)
	size := 1 << rounds
	depth = 2 * rounds
	if c.Root < 2*(c.N-size) {
		depth++
	}
	return size*rounds + size - 1 + c.N - size, depth
}

// claimKnomial: the most digits that are not 0, in base k, of a number below n.
// For k = 2 that is floorLog2.
func claimKnomial(c *Case) (messages, depth int) {
	s := Shape{Radix: c.Radix}
	for ones := 1; ones < c.N; ones = ones*s.radix() + 1 {
		depth++
	}
	return (c.N - 1) * c.segments(c.Count), depth
}

// bineDepth: the depth of the power of two, and one more if its single deepest rank has a child.
func bineDepth(n int) int {
	steps := floorLog2(n)
	size, deepest := 1<<steps, 0
	for m := steps; m > 0; m-- {
		deepest = bineTo(deepest, m, size)
	}
	if deepest < n-size {
		return steps + 1
	}
	return steps
}

// claimScatterAllgather: a rank lacks n-1 pieces at first. The pieces of the ranks below it come
// with its own. Piece 1 has the longest path: one hop down and then round to the last rank.
func claimScatterAllgather(c *Case) (messages, depth int) {
	messages = c.N - 1
	for v := 1; v < c.N; v++ {
		messages += c.N - min(v&-v, c.N-v)
	}
	return messages, c.N - 1
}

// claimInOrder: the bracket of the root grows by the brackets beside it, each as deep as a binomial
// tree and one hop away.
func claimInOrder(c *Case) (messages, depth int) {
	for k := range bits.Len(uint(c.N - 1)) {
		if beside := (c.Root>>k ^ 1) << k; beside < c.N {
			depth = max(depth, floorLog2(min(1<<k, c.N-beside))+1)
		}
	}
	return (c.N - 1) * c.segments(c.Count), depth
}

func claimReduceBcast(c *Case) (messages, depth int) {
	return 2 * (c.N - 1) * c.segments(c.Count), 2 * floorLog2(c.N)
}

func claimRingAllreduce(c *Case) (messages, depth int) {
	return 2 * (c.N - 1) * c.N * c.segments((c.Count+c.N-1)/c.N), 2 * (c.N - 1)
}

// claimLinear: every rank to every rank, all at once.
func claimLinear(c *Case) (messages, depth int) {
	return c.N * (c.N - 1), atOnce(c.N)
}

// claimDoublingScan: all but the last d ranks send in the step of distance d. A
// chain takes steps of growing distances, at most n-1 in all.
func claimDoublingScan(c *Case) (messages, depth int) {
	for d := 1; d < c.N; d <<= 1 {
		messages += c.N - d
	}
	return messages, floorLog2(c.N)
}

func claimEdges(c *Case) (messages, depth int) {
	for from := range c.N {
		for _, to := range c.dests(from) {
			if from != to {
				messages++
			}
		}
	}
	return messages, min(1, messages)
}
