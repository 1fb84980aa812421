package sched

// A tree is described to bcastTree and reduceTree by a rank's parent, or -1 at the root, and by its
// children in p.kids, in the order in which a broadcast serves them: the child with the most ranks
// below comes first.

const noParent = -1

// knomial is the tree of radix k: the parent of rank v (counted from the root)
// is v without its lowest digit that is not 0, in base k. Below v are the ranks
// from v to v + the weight of that digit, without gaps. Radix 2 is the binomial
// tree.
func (p *Plan) knomial(s *Shape, radix int) (parent int) {
	p.kids = p.kids[:0]
	return p.addKnomial(s, radix)
}

// addKnomial is knomial for a tree that has children already.
func (p *Plan) addKnomial(s *Shape, radix int) (parent int) {
	v, weight := s.rel(), 1
	for weight < s.N && v/weight%radix == 0 {
		weight *= radix
	}
	parent = noParent
	if v != 0 {
		parent = s.abs(v - v/weight%radix*weight)
	}
	for weight /= radix; weight >= 1; weight /= radix {
		for d := 1; d < radix && v+d*weight < s.N; d++ {
			p.kids = append(p.kids, s.abs(v+d*weight))
		}
	}
	return parent
}

// below returns the number of ranks at or below v, counted from the root, in the binomial tree of n
// ranks: v, v+1, ...
func below(n, v int) int {
	if v == 0 {
		return n
	}
	return min(v&-v, n-v)
}

func binomialBcast(p *Plan, s *Shape) { p.bcastTree(s, p.knomial(s, 2)) }

func knomialBcast(p *Plan, s *Shape) { p.bcastTree(s, p.knomial(s, s.radix())) }

func (s *Shape) radix() int {
	if s.Radix < 2 {
		return 4
	}
	return s.Radix
}

// bcastTree passes Output down, segment by segment: a rank sends the first
// while it receives the second.
func (p *Plan) bcastTree(s *Shape, parent int) {
	for i := range s.segments(s.Count) {
		p.bcastPart(parent, s.segment(i))
	}
}

// segment returns the i-th segment of the vector.
func (s *Shape) segment(i int) part { return cut(s.Count, s.segments(s.Count), i) }

// bcastPart forwards one part of Output, after the given steps.
func (p *Plan) bcastPart(parent int, seg part, after ...int32) {
	if parent != noParent {
		r := p.recv(parent, out(seg.off), seg.elems, after...)
		for _, kid := range p.kids {
			p.send(kid, out(seg.off), seg.elems, r)
		}
		return
	}
	for _, kid := range p.kids {
		p.send(kid, out(seg.off), seg.elems, after...)
	}
}

func binomialReduce(p *Plan, s *Shape) { p.reduceTree(s, p.knomial(s, 2)) }

// reduceTree combines the elements of the children and sends the result to the parent. The smallest
// subtree comes first, because it is complete first. The order is fixed, so the result is the same
// in each run bit for bit. The order is not rank order, so the operation must be commutative.
func (p *Plan) reduceTree(s *Shape, parent int) {
	acc := out(0)
	if parent != noParent && len(p.kids) > 0 {
		acc = p.alloc(s.Count)
	}
	slots := p.slots(min(len(p.kids), 2), s.Count)
	for i := range s.segments(s.Count) {
		seg := s.segment(i)
		have, last, older := in(seg.off), none, none
		for k := range p.kids {
			slot := slots[k%2].plus(seg.off)
			// The second last reduction has read this slot.
			r := p.recv(p.kids[len(p.kids)-1-k], slot, seg.elems, older)
			older, last = last, p.reduce(acc.plus(seg.off), have, slot, seg.elems, r, last)
			have = acc.plus(seg.off)
		}
		switch {
		case parent != noParent:
			p.send(parent, have, seg.elems, last)
		case len(p.kids) == 0:
			p.copy(acc.plus(seg.off), have, seg.elems)
		}
	}
}

// slots returns up to two places for arriving elements, to be used in turn: the next message
// arrives while the last is combined.
func (p *Plan) slots(n, elems int) (slots [2]Ref) {
	for i := range n {
		slots[i] = p.alloc(elems)
	}
	return slots
}
