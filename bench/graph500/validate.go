package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
)

var errInvalid = errors.New("not a breadth-first tree")

// validate holds the tree against the edges that the generator makes, as the specification wants it: (1) the tree has no cycle, (2)
// its edges lead from one level to the next, (3) each edge of the graph joins vertices of levels that differ by one at most,
// or two outside, (4) so the tree spans the component of the root, (5) the edges of the tree are edges of the graph. It fills in what was
// found. Each rank looks at a block of the edges, and at its vertices.
func (g *graph) validate(ctx context.Context, root uint64, f *found) error {
	ask := g.asker()
	edges := g.edgesHere()
	ends := make([]uint64, 0, 2*len(edges))
	for _, x := range edges {
		ends = append(ends, x.From, x.To)
	}
	words, err := ask.words(ctx, ends)
	if err != nil {
		return err
	}
	var bad error
	var inside [1]uint64
	var proved []uint64 // vertices to whose parents an edge leads
	for k, x := range edges {
		a, b := words[2*k], words[2*k+1]
		if (a == 0) != (b == 0) || a != 0 && max(levelOf(a)-levelOf(b), levelOf(b)-levelOf(a)) > 1 {
			bad = fmt.Errorf("%w: an edge from %d of level %d to %d of level %d", errInvalid, x.From, levelOf(a), x.To, levelOf(b))
		}
		if a == 0 {
			continue
		}
		inside[0]++
		if parentOf(a) == x.To {
			proved = append(proved, x.From)
		}
		if parentOf(b) == x.From {
			proved = append(proved, x.To)
		}
	}
	marks, err := ask.mark(ctx, proved)
	if err != nil {
		return err
	}
	if err := collectives.Allreduce(ctx, g.c, inside[:], inside[:], collectives.Sum); err != nil {
		return err
	}
	f.edges = inside[0]
	return errors.Join(bad, g.checkTree(ctx, ask, root, marks, f))
}

// levelsMax is more than there are in any search.
const levelsMax = 1 << 10

// checkTree looks whether each of this rank's vertices is one level below its parent, from which an edge leads to it: then there is no cycle.
func (g *graph) checkTree(ctx context.Context, ask asker, root uint64, marks []byte, f *found) error {
	var children, parents []uint64 // vertices, and those of which they are
	var words []uint64
	var levels [levelsMax]uint64
	var bad error
	for _, p := range g.mine() {
		for i, word := range p.words {
			v := g.vertexOf(p.number, i)
			switch {
			case word == 0 && v != root:
				continue
			case v == root && word != claimed(0, root):
				bad = fmt.Errorf("%w: the root has the word %#x", errInvalid, word)
			case levelOf(word) < 0 || levelOf(word) >= levelsMax || parentOf(word) >= uint64(g.edges.Vertices()):
				bad = fmt.Errorf("%w: %d has the word %#x", errInvalid, v, word)
			default:
				levels[levelOf(word)]++
				if v == root {
					continue
				}
				if marks[p.slot*g.rows()+i] == 0 {
					bad = fmt.Errorf("%w: no edge from %d to its parent %d", errInvalid, v, parentOf(word))
				}
				children, parents, words = append(children, v), append(parents, parentOf(word)), append(words, word)
			}
		}
	}
	above, err := ask.words(ctx, parents)
	if err != nil {
		return err
	}
	for k, v := range children {
		if above[k] == 0 || levelOf(above[k]) != levelOf(words[k])-1 {
			bad = fmt.Errorf("%w: %d of level %d has the parent %d of level %d", errInvalid, v, levelOf(words[k]), parents[k], levelOf(above[k]))
		}
	}
	if err := collectives.Allreduce(ctx, g.c, levels[:], levels[:], collectives.Sum); err != nil {
		return err
	}
	f.levels = nil
	for _, n := range levels {
		if n == 0 {
			break
		}
		f.levels = append(f.levels, n)
	}
	return bad
}
