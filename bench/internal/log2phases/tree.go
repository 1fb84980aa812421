package log2phases

import "math/bits"

// The tree of an attempt. Positions count the members that are not agreed dead, in the order of
// their ranks. The root of attempt a is position a. Seen from there, the parent of q is q without
// its highest bit, and its children are q plus each greater power of two.

// members returns how many positions there are.
func (s *Series) members() int { return s.n - s.gone.Len() }

// position returns the position of rank r, which is not agreed dead.
func (s *Series) position(r int) int {
	p := r
	for g := range s.gone.All() {
		if g > r {
			break
		}
		p--
	}
	return p
}

// rank returns the rank at position p.
func (s *Series) rank(p int) int {
	r := p
	for g := range s.gone.All() {
		if g > r {
			break
		}
		r++
	}
	return r
}

// above returns the parent of position p, which is not the root.
func (s *Series) above(p int) int {
	q := p - s.attempt
	return s.attempt + q - 1<<(bits.Len(uint(q))-1)
}

// parent returns the nearest living ancestor of this member, which is not the root.
func (s *Series) parent() int {
	p := s.above(s.position(s.me))
	for s.dead.Has(s.rank(p)) {
		p = s.above(p)
	}
	return s.rank(p)
}

// missing appends to out the living members below position p that p waits for: its children without
// a vote and, in the place of dead ones, their children. It stops when it has most of them.
func (s *Series) missing(out []int, p, most int) []int {
	q := p - s.attempt
	for bit := 1 << bits.Len(uint(q)); q+bit < s.members()-s.attempt && len(out) < most; bit <<= 1 {
		child := s.attempt + q + bit
		switch r := s.rank(child); {
		case s.voters.Has(r):
		case s.dead.Has(r):
			out = s.missing(out, child, most)
		default:
			out = append(out, r)
		}
	}
	return out
}

// firstLiving returns the first position from p on that is not dead, as far as this member knows.
func (s *Series) firstLiving(p int) int {
	for s.dead.Has(s.rank(p)) {
		p++
	}
	return p
}
