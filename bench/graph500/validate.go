package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

var errInvalid = errors.New("not a breadth-first tree")

// validate holds the tree against the edges that the generator makes, as the specification wants it: (1) the tree has no cycle, (2)
// its edges lead from one level to the next, (3) each edge of the graph joins vertices of levels that differ by one at most,
// or two outside, (4) so the tree spans the component of the root, (5) the edges of the tree are edges of the graph. It fills in what was
// found.
func (g *graph) validate(ctx context.Context, root uint64, f *found) error {
	words, err := g.allWords(ctx)
	if err != nil {
		return err
	}
	bad := g.checkTree(words, root)
	var inside [1]uint64
	proved := make([]bool, len(words)) // the edge from its parent is one of the graph
	lo, hi := comm.Block(g.edges.Edges(), g.c.Size(), g.c.Rank())
	for e := lo; e < hi; e++ {
		x := g.edges.Edge(e)
		a, b := words[x.From], words[x.To]
		if bad == nil && (a == 0) != (b == 0) || a != 0 && max(levelOf(a)-levelOf(b), levelOf(b)-levelOf(a)) > 1 {
			bad = fmt.Errorf("%w: edge %d from %d of level %d to %d of level %d", errInvalid, e, x.From, levelOf(a), x.To, levelOf(b))
		}
		if a == 0 {
			continue
		}
		inside[0]++
		proved[x.From] = proved[x.From] || parentOf(a) == x.To
		proved[x.To] = proved[x.To] || parentOf(b) == x.From
	}
	if err := collectives.Allreduce(ctx, g.c, proved, proved, collectives.LOr); err != nil {
		return err
	}
	if err := collectives.Allreduce(ctx, g.c, inside[:], inside[:], collectives.Sum); err != nil {
		return err
	}
	f.edges, f.levels = inside[0], nil
	for v, word := range words {
		if word == 0 {
			continue
		}
		if !proved[v] && uint64(v) != root && bad == nil {
			bad = fmt.Errorf("%w: no edge from %d to its parent %d", errInvalid, v, parentOf(word))
		}
		for len(f.levels) <= levelOf(word) {
			f.levels = append(f.levels, 0)
		}
		f.levels[levelOf(word)]++
	}
	return bad
}

// allWords gets the words of all vertices.
func (g *graph) allWords(ctx context.Context) ([]uint64, error) {
	words := make([]uint64, g.edges.Vertices())
	for part, at := range g.where {
		w := g.shelves[at.shelf].words
		got := make([]uint64, w.Len(at.rank))
		if err := w.At(at.rank).Get(ctx, 0, got); err != nil {
			return nil, err
		}
		for i, word := range got {
			words[i*g.parts+part] = word
		}
	}
	return words, nil
}

// checkTree looks whether each vertex is one level below its parent: then there is no cycle.
func (g *graph) checkTree(words []uint64, root uint64) error {
	if words[root] != claimed(0, root) {
		return fmt.Errorf("%w: the root has the word %#x", errInvalid, words[root])
	}
	for v, word := range words {
		if word == 0 || uint64(v) == root {
			continue
		}
		p := parentOf(word)
		if p >= uint64(len(words)) || words[p] == 0 || levelOf(words[p]) != levelOf(word)-1 {
			return fmt.Errorf("%w: %d of level %d has the parent %d", errInvalid, v, levelOf(word), p)
		}
	}
	return nil
}
