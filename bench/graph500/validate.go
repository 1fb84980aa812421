package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/testing/harness/kron"
)

var errInvalid = errors.New("not a breadth-first tree")

// validate checks the tree against the edges of the generator, by the five rules of the
// specification, and fills in the report f:
//
//   - (1) the tree has no cycle
//   - (2) its edges lead from one level to the next
//   - (3) each edge of the graph joins vertices of levels that differ by one at most, or two
//     vertices outside the tree
//   - (4) so the tree spans the component of the root
//   - (5) the edges of the tree are edges of the graph
//
// Each rank checks a block of the edges, and its own vertices.
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

// A judgement is the result of checking an edge of the graph against a search, by the words of its
// ends.
type judgement struct {
	bad                  error
	inside               bool // the search has reached the edge
	provesFrom, provesTo bool // inside, and the edge comes from the parent of that end
}

// judgeEdges judges this rank's block of the edges. It returns marks of the vertices of this rank
// that have an edge from their parent, and an error in an edge. The number of edges inside, of all
// ranks, is added to the report f.
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

// levelsMax is more than the levels of any search.
const levelsMax = 1 << 10

// checkTree checks that each of this rank's vertices is one level below its parent, and that an
// edge joins the two: then there is no cycle.
func (g *graph) checkTree(ctx context.Context, ask asker, root uint64, marks []byte, f *found) error {
	var children, parents []uint64 // vertices, and their parents
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
