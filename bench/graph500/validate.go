package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

var errInvalid = errors.New("not a breadth-first tree")

// validate holds the tree against the edges that the generator makes, as the specification wants
// it: (1) the tree has no cycle, (2) its edges lead from one level to the next, (3) each edge of
// the graph joins vertices of levels that differ by one at most, or two outside, (4) so the tree
// spans the component of the root, (5) the edges of the tree are edges of the graph. It fills in
// what was found. Each rank looks at a block of the edges, and at its vertices.
func (g *graph) validate(ctx context.Context, root uint64, f *found) error {
	ask := g.asker()
	marks, bad, err := g.judgeEdges(ctx, ask, f, func(x kron.Edge, a, b uint64) (j judgement) {
		if (a == 0) != (b == 0) || a != 0 && max(levelOf(a)-levelOf(b), levelOf(b)-levelOf(a)) > 1 {
			j.bad = fmt.Errorf("%w: an edge from %d of level %d to %d of level %d", errInvalid, x.From, levelOf(a), x.To, levelOf(b))
		}
		j.inside = a != 0
		j.provesFrom, j.provesTo = parentOf(a) == x.To, parentOf(b) == x.From
		return j
	})
	if err != nil {
		return err
	}
	return errors.Join(bad, g.checkTree(ctx, ask, root, marks, f))
}

// A judgement is what an edge of the graph says of a search, by the words of its ends.
type judgement struct {
	bad                  error
	inside               bool // the search has reached it
	provesFrom, provesTo bool // if so: it is the edge from the parent of that end
}

// judgeEdges judges this rank's block of the edges. It returns marks of the vertices of this rank
// to whose parents an edge leads, and what is wrong with an edge; how many edges are inside, of all
// ranks, goes into what was found.
func (g *graph) judgeEdges(ctx context.Context, ask asker, f *found, judge func(x kron.Edge, from, to uint64) judgement) (marks []byte, bad, err error) {
	edges := g.edgesHere()
	ends := make([]uint64, 0, 2*len(edges))
	for _, x := range edges {
		ends = append(ends, x.From, x.To)
	}
	words, err := ask.words(ctx, ends)
	if err != nil {
		return nil, nil, err
	}
	var inside [1]uint64
	var proved []uint64
	for k, x := range edges {
		j := judge(x, words[2*k], words[2*k+1])
		if j.bad != nil {
			bad = j.bad
		}
		if !j.inside {
			continue
		}
		inside[0]++
		if j.provesFrom {
			proved = append(proved, x.From)
		}
		if j.provesTo {
			proved = append(proved, x.To)
		}
	}
	if marks, err = ask.mark(ctx, proved); err != nil {
		return nil, nil, err
	}
	if err := collectives.Allreduce(ctx, g.c, inside[:], inside[:], collectives.Sum); err != nil {
		return nil, nil, err
	}
	f.edges = inside[0]
	return marks, bad, nil
}

// levelsMax is more than there are in any search.
const levelsMax = 1 << 10

// checkTree looks whether each of this rank's vertices is one level below its parent, from which an
// edge leads to it: then there is no cycle.
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
