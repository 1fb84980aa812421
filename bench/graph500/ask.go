package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/rma"
)

// An asker gives the validation access to the data of other ranks. All its calls are collective.
type asker interface {
	// words returns the words of vertices, in their order.
	words(ctx context.Context, vertices []uint64) ([]uint64, error)
	// mark sends the owners of vertices that these were proved, and returns the proved vertices of
	// this rank, by slot.
	mark(ctx context.Context, vertices []uint64) ([]byte, error)
}

func (g *graph) asker() asker {
	if g.variant.oneSided {
		return &getter{g: g}
	}
	return &messenger{g}
}

// A messenger asks by messages: Alltoallv of the questions, and of the answers.
type messenger struct{ g *graph }

// byRank returns the vertices of each rank and, for each vertex, its place there.
func (g *graph) byRank(vertices []uint64) (toward [][]uint64, at []int) {
	toward, at = make([][]uint64, g.c.Size()), make([]int, len(vertices))
	for k, v := range vertices {
		rank := g.rankOf(v)
		at[k] = len(toward[rank])
		toward[rank] = append(toward[rank], v)
	}
	return toward, at
}

func (m *messenger) words(ctx context.Context, vertices []uint64) ([]uint64, error) {
	g := m.g
	toward, at := g.byRank(vertices)
	asked, counts, err := exchange(ctx, g.c, toward)
	if err != nil {
		return nil, err
	}
	mine := g.mine()
	for k, v := range asked {
		part, i := g.partOf(v)
		asked[k] = mine[g.where[part].slot].words[i]
	}
	begin, total := make([]int, g.c.Size()), 0
	back := make([]int, g.c.Size())
	for rank := range back {
		back[rank], begin[rank] = len(toward[rank]), total
		total += back[rank]
	}
	answers := make([]uint64, total)
	if err := collectives.Alltoallv(ctx, g.c, answers, collectives.Blocks{Counts: back}, asked, collectives.Blocks{Counts: counts}); err != nil {
		return nil, err
	}
	words := make([]uint64, len(vertices))
	for k, v := range vertices {
		words[k] = answers[begin[g.rankOf(v)]+at[k]]
	}
	return words, nil
}

func (m *messenger) mark(ctx context.Context, vertices []uint64) ([]byte, error) {
	g := m.g
	toward, _ := g.byRank(vertices)
	told, _, err := exchange(ctx, g.c, toward)
	if err != nil {
		return nil, err
	}
	marks := make([]byte, g.slots*g.rows())
	for _, v := range told {
		part, i := g.partOf(v)
		marks[g.where[part].slot*g.rows()+i] = 1
	}
	return marks, nil
}

// A getter gets the words of all vertices, and stores marks at their owners, with a notification at
// the end.
type getter struct {
	g   *graph
	all [][]uint64 // words, by part; nil: not got yet
}

func (m *getter) words(ctx context.Context, vertices []uint64) ([]uint64, error) {
	g := m.g
	if m.all == nil {
		m.all = make([][]uint64, g.parts)
		for part, at := range g.where {
			m.all[part] = make([]uint64, g.vertices(part))
			if err := g.shelves[at.shelf].words.At(at.rank).Get(ctx, 0, m.all[part]); err != nil {
				return nil, err
			}
		}
	}
	words := make([]uint64, len(vertices))
	for k, v := range vertices {
		part, i := g.partOf(v)
		words[k] = m.all[part][i]
	}
	return words, nil
}

func (m *getter) mark(ctx context.Context, vertices []uint64) ([]byte, error) {
	g := m.g
	marks, err := rma.Allocate[byte](ctx, g.c, g.slots*g.rows(), rma.Notifications(1))
	if err != nil {
		return nil, err
	}
	for _, v := range vertices {
		part, i := g.partOf(v)
		at := g.where[part]
		if err == nil {
			err = marks.At(at.rank).Store(ctx, at.slot*g.rows()+i, 1) // several ranks may store the same
		}
	}
	for rank := 0; rank < g.c.Size() && err == nil; rank++ {
		err = marks.At(rank).Notify(ctx, 0)
	}
	if err == nil {
		err = marks.WaitNotify(ctx, 0, uint64(g.c.Size()))
	}
	mine := append([]byte{}, marks.Local()...)
	if e := marks.Free(); err == nil {
		err = e
	}
	return mine, err
}
