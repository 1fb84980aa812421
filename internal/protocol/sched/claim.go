package sched

import "math/bits"

// The claims are formulas of the number of ranks, written without looking at
// plans.

func lessOne(n int) int { return n - 1 }
func half(n int) int    { return n / 2 }
func atOnce(n int) int  { return min(1, n-1) }

// perRound: every rank sends once in each round.
func perRound(rounds func(n int) int) func(*Case) (messages, depth int) {
	return func(c *Case) (int, int) { return c.N * rounds(c.N), rounds(c.N) }
}

// claimDissemination: log2 rounds, and the last message waits only for what its
// receiver lacks.
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

// folded: the core exchanges in log2 rounds, the others hand over and get back.
// The longest chain goes from core rank a to core rank b along the bits in which
// they differ. From the rank that one hands over to it reaches all; to be given
// on to another it must end at one that has a partner too.
func folded(c *Case) (messages, depth int) {
	rounds := floorLog2(c.N)
	size := 1 << rounds
	if pairs := c.N - size; pairs > 0 {
		return size*rounds + 2*pairs, max(rounds+1, ceilLog2(pairs)+2)
	}
	return size * rounds, rounds
}

// claimRabenseifner: twice as many rounds, the second time backwards, so that a
// chain comes back to where it began.
func claimRabenseifner(c *Case) (messages, depth int) {
	rounds := 2 * floorLog2(c.N)
	size := 1 << floorLog2(c.N)
	return size*rounds + 2*(c.N-size), rounds + 2*min(1, c.N-size)
}

// claimRabenseifnerReduce: the second half has one message for each core rank
// but the root. The longest chain begins and ends at the root, or at its partner.
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

// bineDepth: that of the power of two, and one more if its one deepest rank has
// a rank below it.
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

// claimScatterAllgather: of the n-1 pieces that a rank lacks at first, those of
// the ranks below it come with its own. The longest way is that of piece 1: one
// hop down and then round to the last rank.
func claimScatterAllgather(c *Case) (messages, depth int) {
	messages = c.N - 1
	for v := 1; v < c.N; v++ {
		messages += c.N - min(v&-v, c.N-v)
	}
	return messages, c.N - 1
}

// claimInOrder: the bracket of the root grows by those beside it, each as deep
// as a binomial tree and one hop away.
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

// claimLinear: everyone to everyone, all at once.
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
