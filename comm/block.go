package comm

// Block divides n things, numbered from 0, among size ranks in order, and returns the range of a
// rank: from lo up to but excluding hi. The first n%size ranks have one more than the others. For a
// rank outside of 0..size-1, or a negative n, the range is empty: 0, 0.
//
//	lo, hi := comm.Block(len(cells), w.Size(), w.Rank())
func Block(n, size, rank int) (lo, hi int) {
	if n < 0 || rank < 0 || rank >= size {
		return 0, 0
	}
	each, more := n/size, n%size
	lo = rank*each + min(rank, more)
	hi = lo + each
	if rank < more {
		hi++
	}
	return lo, hi
}
