package main

import (
	"context"

	"github.com/goulfm/goulfm/rma"
)

// hybrid searches top-down from the vertices of a level, like claim, while these are few. When they
// are many hybrid searches bottom-up from the vertices without a word: each checks its neighbours
// in a bitmap of the level, and stops at the first hit (Beamer, Asanovic, Patterson 2012). Either
// way a word is set once, to its true level.
type hybrid struct {
	claim
	up   bool
	bits *rma.Win[uint64] // of each rank: a bit for each vertex, by slot
	all  [][]uint64       // the bitmaps of all parts
}

// The paper's values. The search turns bottom-up when the edges of a level exceed a part of the
// remaining edges, and top-down again when its vertices are fewer than a part of all vertices.
const alpha, beta = 14, 24

func newHybrid(ctx context.Context, g *graph) (scanner, error) {
	down, _ := newClaim(ctx, g)
	s := &hybrid{claim: *down.(*claim), all: make([][]uint64, g.parts)}
	var err error
	s.bits, err = rma.Allocate[uint64](ctx, g.c, g.slots*s.wordsOf())
	for part := range s.all {
		s.all[part] = make([]uint64, s.wordsOf())
	}
	return s, err
}

// wordsOf is how many words the bitmap of a part has.
func (s *hybrid) wordsOf() int { return (s.g.rows() + 63) / 64 }

func (s *hybrid) begin() {
	s.claim.begin()
	s.up = false
}

func (s *hybrid) free() error { return freed(s.bits) }

func (s *hybrid) scan(ctx context.Context, level int, here []vertex, all sums) error {
	if s.up {
		s.up = all[0] >= s.g.edges.Vertices()/beta
	} else {
		s.up = all[1] > all[2]/alpha
	}
	if !s.up {
		return s.claim.scan(ctx, level, here, all)
	}
	if err := s.show(ctx, here); err != nil {
		return err
	}
	for _, p := range s.g.mine() {
		for i, word := range p.words {
			if word == 0 {
				s.lookUp(&p, i, level)
			}
		}
	}
	return s.g.fence(ctx)
}

// show gives all ranks a bitmap of the vertices of a level.
func (s *hybrid) show(ctx context.Context, here []vertex) error {
	local := s.bits.Local()
	clear(local)
	for _, v := range here {
		_, i := s.g.partOf(v.number)
		local[v.slot*s.wordsOf()+i/64] |= 1 << (i % 64)
	}
	if err := s.bits.Fence(ctx); err != nil {
		return err
	}
	for part, at := range s.g.where {
		if err := s.bits.At(at.rank).Get(ctx, at.slot*s.wordsOf(), s.all[part]); err != nil {
			return err
		}
	}
	return nil
}

// lookUp sets the word of one of this rank's vertices if a neighbour is in the bitmap.
func (s *hybrid) lookUp(p *part, i, level int) {
	for _, n := range p.neighbours(i) {
		part, k := s.g.partOf(n.Vertex())
		if s.all[part][k/64]>>(k%64)&1 == 1 {
			p.words[i] = claimed(level+1, n.Vertex())
			return
		}
	}
}
