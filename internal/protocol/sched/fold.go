package sched

// A fold reduces n ranks to the largest power of two, the core: of each of the
// first n - P pairs (2i, 2i+1) one stays and works for both, the other hands it
// what it has and gets the result. Pairs are neighbours and the core keeps the
// order of the ranks, so what 2^k aligned core ranks stand for is contiguous.
type fold struct {
	n, size int // ranks, ranks of the core
	v       int // this rank in the core, or -1 if it is out
	partner int // the other one of its pair, or -1
	keep    int // a rank that stays though its pair's first does usually
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

// rank is which rank is number v of the core.
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

// first is the first of the ranks for which the core ranks from v on stand.
func (f *fold) first(v int) int { return v + min(v, f.n-f.size) }
