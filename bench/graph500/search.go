package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/harness/csr"
)

// A word of a vertex is 0, or its level and 1, and its parent.
const parentBits = 48

func claimed(level int, parent uint64) uint64 { return uint64(level+1)<<parentBits | parent }

func levelOf(word uint64) int     { return int(word>>parentBits) - 1 }
func parentOf(word uint64) uint64 { return word & (1<<parentBits - 1) }

// A scanner finds what is next to a level, in one of the ways that there are.
type scanner interface {
	// begin comes before the first level of a search, and of one that is resumed.
	begin()
	// scan sets the words of all vertices that are next to this rank's vertices of a level, which
	// are here, and have none. It returns when all ranks have done so.
	scan(ctx context.Context, level int, here []vertex, all sums) error
	free() error
}

// A variant is a way to search.
type variant struct {
	name string
	// resumes says that a search which has lost a rank goes on: no word is set but to what it is to
	// be in the end.
	resumes bool
	// oneSided says that it is validated by one-sided operations, and not by messages.
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

// A search goes from level to level: all ranks look at the neighbours of their vertices of one
// level, then of the next.
//
// When a rank dies, the survivors take over its vertices with their words. If each word is set
// once, to its true level, all ranks scan again from the lowest level that one of them had not
// finished. The result has the levels of an undisturbed search: a rank at level l+1 had seen that
// all ranks had finished l, so all words of l+1 were set; a word is set once; and a second scan
// finds its words set. If words are set in another way, or messages were lost with the dead rank,
// the search begins again.
type search struct {
	number int // of a run
	root   uint64
	begun  bool
	level  int // all before it is finished
}

// sums are of all ranks: vertices of a level, edges from those, edges from vertices that have no
// word.
type sums [3]int

// run searches from where it stands to the end.
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

// clear has no vertex have a word but the root.
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

// resume has all look again from the lowest level that one of them had not finished. A search that
// not all had begun begins again, and so does every one of a variant that does not resume.
func (s *search) resume(ctx context.Context, g *graph) error {
	at := s.level
	if !s.begun || !g.variant.resumes || g.anew {
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

// fence orders what all have stored before what anybody looks at after it.
func (g *graph) fence(ctx context.Context) error { return g.shelves[0].words.Fence(ctx) }
