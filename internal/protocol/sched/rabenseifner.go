package sched

// Rabenseifner's algorithms (1997) halve the vector in each step while the distance doubles: after
// step k a core rank has a 2^(k+1)-th of the vector, combined over its aligned group of 2^(k+1).
// Starting with the neighbour keeps the order of the ranks, so the operation need not commute. The
// same steps in reverse then collect the pieces. Every element is sent about twice, for any number
// of ranks.

// halving is the state of a core rank after the first half.
type halving struct {
	fold
	acc    Ref       // the place where the rank combined
	lo, hi [64]int   // before step k the rank worked on pieces [lo, hi); size pieces in all
	sent   [64]int32 // the Send of step k
	steps  int
	last   int32 // the step that completes the rank's piece
}

func (p *Plan) halve(s *Shape, f fold, acc Ref) halving {
	h := halving{fold: f, acc: acc, last: none}
	have := in(0)
	combine := func(with Ref, peer int, seg part, r int32) {
		left, right := have.plus(seg.off), with
		if peer < s.Me {
			left, right = right, left
		}
		h.last = p.reduce(acc.plus(seg.off), left, right, seg.elems, r, h.last)
	}
	if f.partner >= 0 {
		slot := p.alloc(s.Count)
		combine(slot, f.partner, part{0, s.Count}, p.recv(f.partner, slot, s.Count))
		have = acc
	}
	h.hi[0] = f.size
	for d := 1; d < f.size; d <<= 1 {
		peer := f.rank(f.v ^ d)
		give, keep := h.split(d)
		seg := cuts(s.Count, f.size, give[0], give[1])
		h.sent[h.steps] = p.send(peer, have.plus(seg.off), seg.elems, h.last)
		seg = cuts(s.Count, f.size, keep[0], keep[1])
		slot := p.alloc(seg.elems)
		combine(slot, peer, seg, p.recv(peer, slot, seg.elems))
		have = acc
		h.steps++
		h.lo[h.steps], h.hi[h.steps] = keep[0], keep[1]
	}
	return h
}

// split halves the current pieces before the step of distance d.
func (h *halving) split(d int) (give, keep [2]int) {
	lo, hi := h.lo[h.steps], h.hi[h.steps]
	mid := (lo + hi) / 2
	if h.v&d == 0 {
		return [2]int{mid, hi}, [2]int{lo, mid}
	}
	return [2]int{lo, mid}, [2]int{mid, hi}
}

// mine and theirs are the parts that this rank and its peer of step k had after step k.
func (h *halving) mine(s *Shape, k int) part {
	return cuts(s.Count, h.size, h.lo[k+1], h.hi[k+1])
}

func (h *halving) theirs(s *Shape, k int) part {
	if h.lo[k+1] == h.lo[k] {
		return cuts(s.Count, h.size, h.hi[k+1], h.hi[k])
	}
	return cuts(s.Count, h.size, h.lo[k], h.lo[k+1])
}

// collect receives the part that the peer of step k combined. The part overwrites the elements that
// this rank sent in step k.
func (p *Plan) collect(s *Shape, h *halving, k int) int32 {
	seg := h.theirs(s, k)
	return p.recv(h.rank(h.v^1<<k), h.acc.plus(seg.off), seg.elems, h.sent[k])
}

// hand sends the complete part of this rank to the peer of step k.
func (p *Plan) hand(s *Shape, h *halving, k int, ready []int32) {
	seg := h.mine(s, k)
	p.send(h.rank(h.v^1<<k), h.acc.plus(seg.off), seg.elems, ready...)
}

func rabenseifnerAllreduce(p *Plan, s *Shape) {
	f := foldOf(s.N, s.Me, 0)
	switch {
	case s.N == 1:
		p.copy(out(0), in(0), s.Count)
		return
	case f.v < 0:
		handed := p.send(f.partner, in(0), s.Count)
		p.recv(f.partner, out(0), s.Count, handed)
		return
	}
	h := p.halve(s, f, out(0))
	ready := append(p.memo, h.last)
	for k := h.steps - 1; k >= 0; k-- {
		p.hand(s, &h, k, ready)
		ready = append(ready, p.collect(s, &h, k))
	}
	if f.partner >= 0 {
		p.send(f.partner, out(0), s.Count, ready...)
	}
	p.memo = ready
}

// rabenseifnerReduce gathers the pieces at the root: in the second half only the ranks on the
// root's side continue. The root is always in the core.
func rabenseifnerReduce(p *Plan, s *Shape) {
	f := foldOf(s.N, s.Me, s.Root)
	switch {
	case s.N == 1:
		p.copy(out(0), in(0), s.Count)
		return
	case f.v < 0:
		p.send(f.partner, in(0), s.Count)
		return
	}
	acc := out(0)
	if s.Me != s.Root {
		acc = p.alloc(s.Count)
	}
	h := p.halve(s, f, acc)
	root := foldOf(s.N, s.Root, s.Root).v
	ready := append(p.memo, h.last)
	for k := h.steps - 1; k >= 0; k-- {
		if (f.v^root)&(1<<k) != 0 {
			p.hand(s, &h, k, ready)
			break
		}
		ready = append(ready, p.collect(s, &h, k))
	}
	p.memo = ready
}
