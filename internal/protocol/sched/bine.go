package sched

// Bine trees (binomial negabinary; De Sensi et al., SC'25) are binomial trees
// whose hops alternate in direction, so that they are about a third shorter:
// fewer messages leave a group of ranks that are close to each other.
//
// With m steps left an even rank (counted from the root) sends to the rank hop(m) up, an odd rank
// to the rank hop(m) down, where hop(m) is the number with m ones in base -2: 1, -1, 3, -5, 11, ...
// This scheme needs a power of two. With n ranks the first P ranks, P the largest power of two, use
// the scheme, and each rank v >= P is a child of v - P. The paper does not have this last step.

// bineHop is the sum of (-2)^i for i < m.
func bineHop(m int) int { return (1 - pow(-2, m)) / 3 }

func pow(base, e int) int {
	x := 1
	for range e {
		x *= base
	}
	return x
}

// bineLow returns how far the 2^m ranks that m steps serve reach down from an even rank. These
// ranks have no gap. From an odd rank they reach as far up.
func bineLow(m int) int {
	low := 0
	for i := 2; i <= m; i += 2 {
		low += pow(2, i-1)
	}
	return low
}

func (p *Plan) bine(s *Shape) (parent int) {
	v, steps := s.rel(), floorLog2(s.N)
	size := 1 << steps
	p.kids = p.kids[:0]
	if v >= size {
		return s.abs(v - size)
	}
	from, at, m := binePath(v, size, steps)
	for ; m > 0; m-- {
		p.kids = append(p.kids, s.abs(bineTo(at, m, size)))
	}
	if v+size < s.N {
		p.kids = append(p.kids, s.abs(v+size))
	}
	if from == noParent {
		return noParent
	}
	return s.abs(from)
}

// bineTo returns the rank to which rank at sends with m steps left.
func bineTo(at, m, size int) int {
	if at%2 == 0 {
		return (at + bineHop(m)) & (size - 1)
	}
	return (at - bineHop(m)) & (size - 1)
}

// binePath descends from the root to v. It returns the rank before v on this path and the number of
// steps left at v.
func binePath(v, size, steps int) (from, at, m int) {
	from, at, m = noParent, 0, steps
	for at != v {
		up := v - at
		if at%2 != 0 {
			up = -up
		}
		next := bineTo(at, m, size)
		m--
		if (up+bineLow(m))&(size-1) >= 1<<m { // v is outside the ranks that at continues to serve
			from, at = at, next
		}
	}
	return from, at, m
}

func bineBcast(p *Plan, s *Shape)  { p.bcastTree(s, p.bine(s)) }
func bineReduce(p *Plan, s *Shape) { p.reduceTree(s, p.bine(s)) }
