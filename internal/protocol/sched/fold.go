package sched

// A fold reduces n ranks to the largest power of two, the core: of each of the first n - P pairs
// (2i, 2i+1) one rank stays and works for both; the other rank sends its elements to the first and
// gets the result. Pairs are neighbours and the core keeps the order of the ranks, so 2^k aligned
// core ranks represent a contiguous range of ranks.
type fold struct {
	n, size int // ranks, ranks of the core
	v       int // the number of this rank in the core, or -1 outside the core
	partner int // the other rank of its pair, or -1
	keep    int // a rank that always stays; in other pairs the first rank stays
}

// foldOf folds n ranks for rank me; rank keep is in the core.
func foldOf(n, me, keep int) fold {
	f := fold{n: n, size: 1 << floorLog2(n), partner: -1, keep: keep}
	switch pairs := n - f.size; {
	case me >= 2*pairs:
		f.v = me - pairs
	case f.rank(me/2) == me:
		f.v, f.partner = me/2, me^1
	default:
		f.v, f.partner = -1, me^1
	}
	return f
}

// rank returns the rank with number v in the core.
func (f *fold) rank(v int) int {
	switch pairs := f.n - f.size; {
	case v >= pairs:
		return v + pairs
	case f.keep == 2*v+1:
		return f.keep
	default:
		return 2 * v
	}
}

// first returns the first of the ranks that the core ranks from v on represent.
func (f *fold) first(v int) int { return v + min(v, f.n-f.size) }
