package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
)

// A word of a vertex is 0, or its level and 1, and its parent.
const parentBits = 48

func claimed(level int, parent uint64) uint64 { return uint64(level+1)<<parentBits | parent }

func levelOf(word uint64) int     { return int(word>>parentBits) - 1 }
func parentOf(word uint64) uint64 { return word & (1<<parentBits - 1) }

// A search goes from level to level: all ranks look at the neighbours of their vertices of one level, and
// claim those that nobody has claimed, then at the next.
//
// When a rank dies the living take its vertices over, with their words, and all look again from the lowest level on that one
// of them had not finished. That is right, and finds the levels of an undisturbed search: who was at level l+1 had seen that
// all were through l, so all of l+1 was claimed; a word is set once; and what is looked at again is claimed already.
type search struct {
	root  uint64
	begun bool
	level int // all before it is finished
}

// run searches from where it stands to the end.
func (s *search) run(ctx context.Context, g *graph) error {
	if !s.begun {
		for _, p := range g.mine() {
			clear(p.words)
			if s.root%uint64(g.parts) == uint64(p.number) {
				p.words[s.root/uint64(g.parts)] = claimed(0, s.root)
			}
		}
		if err := g.fence(ctx); err != nil {
			return err
		}
		s.begun = true
	}
	known := make([]bool, g.edges.Vertices()) // to be claimed by somebody: a cache
	for ; ; s.level++ {
		g.c.Mark("level", s.level)
		here := frontier(g, s.level)
		all, err := collectives.AllreduceOne(ctx, g.c, len(here), collectives.Sum)
		if err != nil || all == 0 {
			return err
		}
		for _, v := range here {
			if err := g.claimNeighbours(ctx, v, s.level, known); err != nil {
				return err
			}
		}
		if err := g.fence(ctx); err != nil {
			return err
		}
	}
}

// resume has all look again from the lowest level that one of them had not finished. A search that not all had begun begins
// again.
func (s *search) resume(ctx context.Context, g *graph) error {
	at := s.level
	if !s.begun {
		at = -1
	}
	least, err := collectives.AllreduceOne(ctx, g.c, at, collectives.Min)
	if err != nil {
		s.begun = false // the next repair comes to this again
		return err
	}
	s.begun, s.level = least >= 0, max(least, 0)
	return nil
}

// vertex is one of this rank's.
type vertex struct {
	number uint64
	near   []uint64
}

// frontier are this rank's vertices of a level.
func frontier(g *graph, level int) (here []vertex) {
	for _, p := range g.mine() {
		for i, word := range p.words {
			if levelOf(word) == level {
				here = append(here, vertex{uint64(i*g.parts + p.number), p.near[p.begin[i]:p.begin[i+1]]})
			}
		}
	}
	return here
}

func (g *graph) claimNeighbours(ctx context.Context, v vertex, level int, known []bool) error {
	word := claimed(level+1, v.number)
	for _, u := range v.near {
		if known[u] {
			continue
		}
		at := g.where[u%uint64(g.parts)]
		to, i := g.shelves[at.shelf].words.At(at.rank), int(u/uint64(g.parts))
		was, err := to.Load(ctx, i)
		if err == nil && was == 0 {
			_, _, err = to.CompareAndSwap(ctx, i, 0, word)
		}
		if err != nil {
			return err
		}
		known[u] = true
	}
	return nil
}

// fence orders what all have claimed before what anybody looks at after it.
func (g *graph) fence(ctx context.Context) error { return g.shelves[0].words.Fence(ctx) }
