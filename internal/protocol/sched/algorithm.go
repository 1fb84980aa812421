package sched

// Verb names a collective operation.
type Verb uint8

// The verbs. Case.expect defines the result of each.
const (
	Barrier Verb = iota
	Bcast
	ReduceTo // MPI's reduce, to one root
	Allreduce
	Gather
	Scatter
	Allgather
	Alltoall
	ReduceScatter
	Scan
	Exscan
	NeighborAllgather
	NeighborAlltoall
)

// Rooted reports whether the verb has a root.
func (v Verb) Rooted() bool { return v == Bcast || v == ReduceTo || v == Gather || v == Scatter }

// Reduces reports whether the verb takes an operation.
func (v Verb) Reduces() bool {
	return v == ReduceTo || v == Allreduce || v == ReduceScatter || v == Scan || v == Exscan
}

// Layout is the generality of the blocks of a case, or of the blocks that an algorithm accepts.
// Each layout includes the layouts before it.
type Layout uint8

// The layouts.
const (
	Uniform   Layout = iota // all of one length, one behind the other
	Packed                  // of any lengths, one behind the other, known to all
	Scattered               // of any lengths, at places that differ from rank to rank
)

// An Algorithm is an implementation of a verb.
type Algorithm struct {
	Name string // verb/algorithm
	Verb Verb

	// Commutative algorithms combine in another order than rank order, but always in the same
	// order.
	Commutative bool
	// Even algorithms need an even number of ranks, or one.
	Even bool
	// Segmented algorithms heed Shape.Segment.
	Segmented bool
	// InPlace reports that buffers may share memory: Input may be Output (Reduce at the root,
	// Allreduce, Scan, Exscan) or this rank's block in Output (Allgather, Gather at the root), or
	// Output may be this rank's block in Input (Scatter at the root). If InPlace is false, the host
	// must copy Input first.
	InPlace bool
	// Blocks is the most general layout that the algorithm accepts, for verbs that have blocks.
	Blocks Layout

	build func(*Plan, *Shape)
	claim func(*Case) (messages, depth int)
}

// Build makes p the plan of rank s.Me. It allocates nothing if p has held a plan
// of this size before.
func (a *Algorithm) Build(p *Plan, s *Shape) {
	p.reset(s)
	a.build(p, s)
}

// Claim returns the number of messages that all ranks send in the case, and the length of the
// longest chain in which each message waits for the message before. The verifier compares the plans
// with both.
func (a *Algorithm) Claim(c *Case) (messages, depth int) { return a.claim(c) }

// Algorithms returns all algorithms, in a new slice.
func Algorithms() []Algorithm {
	return []Algorithm{
		{Name: "barrier/dissemination", Verb: Barrier, build: dissemination, claim: claimDissemination},
		{Name: "barrier/two-level", Verb: Barrier, build: twoLevelBarrier, claim: claimTwoLevelBarrier},

		{Name: "bcast/binomial", Verb: Bcast, Segmented: true, build: binomialBcast, claim: perSegment(floorLog2)},
		{Name: "bcast/knomial", Verb: Bcast, Segmented: true, build: knomialBcast, claim: claimKnomial},
		{Name: "bcast/bine", Verb: Bcast, Segmented: true, build: bineBcast, claim: perSegment(bineDepth)},
		{Name: "bcast/chain", Verb: Bcast, Segmented: true, build: chainBcast, claim: perSegment(lessOne)},
		{Name: "bcast/scatter-allgather", Verb: Bcast, build: scatterAllgather, claim: claimScatterAllgather},
		{Name: "bcast/two-level", Verb: Bcast, Segmented: true, build: twoLevelBcast, claim: claimTwoLevelTree},

		{Name: "reduce/binomial", Verb: ReduceTo, Segmented: true, Commutative: true, InPlace: true, build: binomialReduce, claim: perSegment(floorLog2)},
		{Name: "reduce/bine", Verb: ReduceTo, Segmented: true, Commutative: true, InPlace: true, build: bineReduce, claim: perSegment(bineDepth)},
		{Name: "reduce/chain", Verb: ReduceTo, Segmented: true, Commutative: true, InPlace: true, build: chainReduce, claim: perSegment(lessOne)},
		{Name: "reduce/in-order", Verb: ReduceTo, Segmented: true, InPlace: true, build: inOrderReduce, claim: claimInOrder},
		{Name: "reduce/rabenseifner", Verb: ReduceTo, InPlace: true, build: rabenseifnerReduce, claim: claimRabenseifnerReduce},
		{Name: "reduce/two-level", Verb: ReduceTo, Segmented: true, Commutative: true, InPlace: true, build: twoLevelReduce, claim: claimTwoLevelTree},

		{Name: "allreduce/recursive-doubling", Verb: Allreduce, InPlace: true, build: doublingAllreduce, claim: folded},
		{Name: "allreduce/ring", Verb: Allreduce, Segmented: true, Commutative: true, InPlace: true, build: ringAllreduce, claim: claimRingAllreduce},
		{Name: "allreduce/rabenseifner", Verb: Allreduce, InPlace: true, build: rabenseifnerAllreduce, claim: claimRabenseifner},
		{Name: "allreduce/reduce-bcast", Verb: Allreduce, Segmented: true, InPlace: true, build: reduceBcast, claim: claimReduceBcast},
		{Name: "allreduce/two-level", Verb: Allreduce, Commutative: true, InPlace: true, build: twoLevelAllreduce, claim: claimTwoLevelAllreduce},

		{Name: "gather/binomial", Verb: Gather, InPlace: true, build: binomialGather, claim: perEdge(floorLog2)},
		{Name: "gather/linear", Verb: Gather, InPlace: true, Blocks: Scattered, build: linearGather, claim: perEdge(atOnce)},
		{Name: "gather/two-level", Verb: Gather, InPlace: true, build: twoLevelGather, claim: claimTwoLevelGather},
		{Name: "scatter/binomial", Verb: Scatter, InPlace: true, build: binomialScatter, claim: perEdge(floorLog2)},
		{Name: "scatter/linear", Verb: Scatter, InPlace: true, Blocks: Scattered, build: linearScatter, claim: perEdge(atOnce)},
		{Name: "scatter/two-level", Verb: Scatter, InPlace: true, build: twoLevelScatter, claim: claimTwoLevelGather},

		{Name: "allgather/linear", Verb: Allgather, InPlace: true, Blocks: Scattered, build: linearAllgather, claim: claimLinear},
		{Name: "allgather/ring", Verb: Allgather, InPlace: true, Blocks: Scattered, build: ringAllgather, claim: perRound(lessOne)},
		{Name: "allgather/recursive-doubling", Verb: Allgather, InPlace: true, Blocks: Packed, build: doublingAllgather, claim: folded},
		{Name: "allgather/bruck", Verb: Allgather, InPlace: true, Blocks: Packed, build: bruckAllgather, claim: claimDissemination},
		{Name: "allgather/neighbor-exchange", Verb: Allgather, Even: true, InPlace: true, Blocks: Packed, build: neighborExchange, claim: perRound(half)},
		{Name: "allgather/two-level", Verb: Allgather, InPlace: true, build: twoLevelAllgather, claim: claimTwoLevelAllgather},

		{Name: "alltoall/linear", Verb: Alltoall, Blocks: Scattered, build: linearAlltoall, claim: claimLinear},
		{Name: "alltoall/pairwise", Verb: Alltoall, Blocks: Scattered, build: pairwiseAlltoall, claim: perRound(lessOne)},
		{Name: "alltoall/bruck", Verb: Alltoall, build: bruckAlltoall, claim: perRound(ceilLog2)},

		{Name: "reduce-scatter/recursive-halving", Verb: ReduceScatter, Commutative: true, Blocks: Packed, build: halvingReduceScatter, claim: folded},
		{Name: "reduce-scatter/pairwise", Verb: ReduceScatter, Commutative: true, Blocks: Scattered, build: pairwiseReduceScatter, claim: perRound(lessOne)},
		{Name: "reduce-scatter/ring", Verb: ReduceScatter, Commutative: true, Blocks: Scattered, build: ringReduceScatter, claim: perRound(lessOne)},
		{Name: "reduce-scatter/linear", Verb: ReduceScatter, Blocks: Scattered, build: linearReduceScatter, claim: claimLinear},

		{Name: "scan/recursive-doubling", Verb: Scan, InPlace: true, build: doublingScan, claim: claimDoublingScan},
		{Name: "scan/linear", Verb: Scan, Segmented: true, InPlace: true, build: linearScan, claim: perSegment(lessOne)},
		{Name: "exscan/recursive-doubling", Verb: Exscan, InPlace: true, build: doublingExscan, claim: claimDoublingScan},
		{Name: "exscan/linear", Verb: Exscan, Segmented: true, InPlace: true, build: linearExscan, claim: perSegment(lessOne)},

		{Name: "neighbor-allgather/linear", Verb: NeighborAllgather, Blocks: Scattered, build: neighborAllgather, claim: claimEdges},
		{Name: "neighbor-alltoall/linear", Verb: NeighborAlltoall, Blocks: Scattered, build: neighborAlltoall, claim: claimEdges},
	}
}
