package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/harness/csr"
)

// A word of a vertex is 0, or its level plus 1 and its parent.
const parentBits = 48

func claimed(level int, parent uint64) uint64 { return uint64(level+1)<<parentBits | parent }

func levelOf(word uint64) int     { return int(word>>parentBits) - 1 }
func parentOf(word uint64) uint64 { return word & (1<<parentBits - 1) }

// A scanner finds the neighbours of a level, by one of the variants.
type scanner interface {
	// begin comes before the first level of a search, and of a resumed search.
	begin()
	// scan sets the words of all vertices without a word that are next to this rank's vertices of a
	// level, which are here. It returns when all ranks have done so.
	scan(ctx context.Context, level int, here []vertex, all sums) error
	free() error
}

// A variant is a way to search.
type variant struct {
	name string
	// resumes: a search that has lost a rank continues, because each word is only set to its final
	// value.
	resumes bool
	// oneSided: the search is validated by one-sided operations, and not by messages.
	oneSided bool
	make     func(ctx context.Context, g *graph) (scanner, error)
}

// variants are all there are, by name.
var variants = map[string]variant{
	"claim":          {"claim", true, true, newClaim},
	"hybrid":         {"hybrid", true, true, newHybrid},
	"simple":         {"simple", false, false, newSimple},
	"packed":         {"packed", false, false, newPacked},
	"onesided":       {"onesided", false, true, newOneSided(overRMA)},
	"onesided-shmem": {"onesided-shmem", false, true, newOneSided(overShmem)},
}

// A search visits level after level: all ranks check the neighbours of their vertices of one level,
// then of the next.
//
// When a rank dies, the survivors take over its vertices with their words. If each word is set
// once, to its true level, all ranks scan again from the lowest level that one of them had not
// finished. The result has the levels of an undisturbed search. A rank at level l+1 had seen that
// all ranks had finished l, so all words of l+1 were set. A word is set once, and a second scan
// finds its words set. If words are set in another way, or messages were lost with the dead rank,
// the search begins again.
type search struct {
	number int // of a run
	root   uint64
	begun  bool
	level  int // the first unfinished level
}

// sums are sums over all ranks: vertices of a level, edges from these, edges from vertices without
// a word.
type sums [3]int

// run continues the search to its end.
func (s *search) run(ctx context.Context, g *graph) (err error) {
	if g.scan == nil {
		if g.scan, err = g.variant.make(ctx, g); err != nil {
			g.scan = nil
			return err
		}
	}
	if !s.begun {
		if err := g.clear(ctx, s.root, claimed(0, s.root)); err != nil {
			return err
		}
		s.begun = true
	}
	g.scan.begin()
	for ; ; s.level++ {
		g.c.Mark("level", s.level)
		g.c.Mark("step", stepOf(s.number, s.level))
		here, mine := frontier(g, s.level)
		var all sums
		if err := collectives.Allreduce(ctx, g.c, all[:], mine[:], collectives.Sum); err != nil || all[0] == 0 {
			return err
		}
		if err := g.scan.scan(ctx, s.level, here, all); err != nil {
			return err
		}
	}
}

// clear clears the words of all vertices but the root.
func (g *graph) clear(ctx context.Context, root, word uint64) error {
	at, i := g.partOf(root)
	for _, p := range g.mine() {
		clear(p.words)
		if p.number == at {
			p.words[i] = word
		}
	}
	return g.fence(ctx)
}

// resume returns to the lowest level that one of the ranks had not finished. A search that not all
// had begun begins again, and so does every search of a variant that does not resume.
func (s *search) resume(ctx context.Context, g *graph) error {
	at := s.level
	if !s.begun || !g.variant.resumes || g.anew {
		at = -1
	}
	least, err := collectives.AllreduceOne(ctx, g.c, at, collectives.Min)
	if err != nil {
		s.begun = false // the next repair calls resume again
		return err
	}
	s.begun, s.level = least >= 0, max(least, 0)
	return nil
}

// vertex is a vertex of this rank.
type vertex struct {
	number uint64
	slot   int // of its part
	near   []csr.Neighbour
}

// frontier are this rank's vertices of a level.
func frontier(g *graph, level int) (here []vertex, mine sums) {
	for _, p := range g.mine() {
		for i, word := range p.words {
			near := p.neighbours(i)
			switch {
			case word == 0:
				mine[2] += len(near)
			case levelOf(word) == level:
				here = append(here, vertex{g.vertexOf(p.number, i), p.slot, near})
				mine[0]++
				mine[1] += len(near)
			}
		}
	}
	return here, mine
}

// fence orders the stores of all ranks before later loads of any rank.
func (g *graph) fence(ctx context.Context) error { return g.shelves[0].words.Fence(ctx) }
