package comm

// Block returns which of n things, numbered from 0, belong to a rank where size ranks share
// them in order: those from lo on, up to but without hi. The first n%size ranks have one
// more than the others. Without such a rank, or with a negative n, there are none: 0, 0.
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
