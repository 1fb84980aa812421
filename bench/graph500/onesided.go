package main

import (
	"context"
	"errors"
	"math"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/rma"
	"github.com/goulfm/goulfm/shmem"
)

// oneSided accumulates at the owner of a vertex. The rank that finds the vertex takes the minimum
// of its own vertex and the found vertex's next predecessor, and sets a bit of the next queue,
// which stands for four vertices. After a fence the owner checks which of these vertices are new.
// This is the pattern of the one-sided codes that Zhong, Bouteiller, Luo, Bosilca, General Failure
// Detection and Propagation, measure in section 6, figures 19 and 20.
type oneSided struct {
	g *graph
	memory
}

// memory is the memory for accumulations: on each rank a predecessor for each vertex, by slot, and
// a queue.
type memory interface {
	// lessen first loads the word: most vertices have many neighbours in a level, and most of these
	// are too late. It reports whether it has accumulated.
	lessen(ctx context.Context, rank, i int, v uint64) (bool, error)
	setBits(ctx context.Context, rank, i int, bits uint64) error
	fence(ctx context.Context) error
	local() (predecessors, queue []uint64)
	free() error
}

// noVertex is the predecessor of a vertex that nobody has found.
const noVertex = math.MaxUint64

const perBit = 4 // vertices of a bit

func newOneSided(over func(ctx context.Context, g *graph, vertices, words int) (memory, error)) func(context.Context, *graph) (scanner, error) {
	return func(ctx context.Context, g *graph) (scanner, error) {
		s := &oneSided{g: g}
		var err error
		if s.memory, err = over(ctx, g, g.slots*g.rows(), g.slots*s.wordsOf()); err != nil {
			return nil, err
		}
		return s, nil
	}
}

// wordsOf is how many words the queue of a part has.
func (s *oneSided) wordsOf() int { return (s.g.rows() + 64*perBit - 1) / (64 * perBit) }

func (s *oneSided) begin() {}

func (s *oneSided) scan(ctx context.Context, level int, here []vertex, _ sums) error {
	predecessors, queue := s.local()
	for i := range predecessors {
		predecessors[i] = noVertex
	}
	clear(queue)
	if err := s.fence(ctx); err != nil {
		return err
	}
	for _, v := range here {
		for _, n := range v.near {
			part, i := s.g.partOf(n.Vertex())
			at := s.g.where[part]
			lessened, err := s.lessen(ctx, at.rank, at.slot*s.g.rows()+i, v.number)
			if err != nil {
				return err
			}
			if !lessened { // the rank that stored the lower vertex sets the bit, too
				continue
			}
			bit := i / perBit
			if err := s.setBits(ctx, at.rank, at.slot*s.wordsOf()+bit/64, 1<<(bit%64)); err != nil {
				return err
			}
		}
	}
	if err := s.fence(ctx); err != nil {
		return err
	}
	for _, p := range s.g.mine() {
		s.take(&p, level, predecessors[p.slot*s.g.rows():], queue[p.slot*s.wordsOf():])
	}
	return s.g.fence(ctx)
}

// take sets the words of the vertices of a part that were found and have no word.
func (s *oneSided) take(p *part, level int, predecessors, queue []uint64) {
	for i := range p.words {
		bit := i / perBit
		if queue[bit/64]>>(bit%64)&1 == 1 && predecessors[i] != noVertex {
			setFirst(&p.words[i], level, predecessors[i])
		}
	}
}

// rmaMemory is two windows.
type rmaMemory struct{ predecessors, queue *rma.Win[uint64] }

func overRMA(ctx context.Context, g *graph, vertices, words int) (memory, error) {
	m := &rmaMemory{}
	var err error
	if m.predecessors, err = rma.Allocate[uint64](ctx, g.c, vertices); err != nil {
		return nil, err
	}
	if m.queue, err = rma.Allocate[uint64](ctx, g.c, words); err != nil {
		return nil, errors.Join(err, m.free())
	}
	return m, nil
}

func (m *rmaMemory) lessen(ctx context.Context, rank, i int, v uint64) (bool, error) {
	was, err := m.predecessors.At(rank).Load(ctx, i)
	if err != nil || was <= v {
		return false, err
	}
	_, err = m.predecessors.At(rank).FetchAndOp(ctx, i, v, collectives.Min)
	return true, err
}

func (m *rmaMemory) setBits(ctx context.Context, rank, i int, bits uint64) error {
	_, err := m.queue.At(rank).FetchAndOp(ctx, i, bits, collectives.BOr)
	return err
}

func (m *rmaMemory) fence(ctx context.Context) error { return m.queue.Fence(ctx) }
func (m *rmaMemory) local() (a, b []uint64)          { return m.predecessors.Local(), m.queue.Local() }
func (m *rmaMemory) free() error                     { return errors.Join(freed(m.predecessors), freed(m.queue)) }

// shmemMemory is two objects of a symmetric heap.
type shmemMemory struct {
	h                   *shmem.Heap
	predecessors, queue shmem.Sym[uint64]
}

func overShmem(ctx context.Context, g *graph, vertices, words int) (memory, error) {
	m := &shmemMemory{}
	var err error
	if m.h, err = shmem.New(ctx, g.c, 8*(vertices+words)+256); err != nil {
		return nil, err
	}
	if m.predecessors, err = shmem.Alloc[uint64](ctx, m.h, vertices); err == nil {
		m.queue, err = shmem.Alloc[uint64](ctx, m.h, words)
	}
	if err != nil {
		return nil, errors.Join(err, m.h.Free())
	}
	return m, nil
}

func (m *shmemMemory) lessen(ctx context.Context, rank, i int, v uint64) (bool, error) {
	was, err := m.predecessors.Fetch(ctx, rank, i)
	if err != nil || was <= v {
		return false, err
	}
	_, err = m.predecessors.FetchOp(ctx, rank, i, v, collectives.Min)
	return true, err
}

func (m *shmemMemory) setBits(ctx context.Context, rank, i int, bits uint64) error {
	return shmem.Or(ctx, m.queue, rank, i, bits)
}

func (m *shmemMemory) fence(ctx context.Context) error { return m.h.BarrierAll(ctx) }
func (m *shmemMemory) local() (a, b []uint64)          { return m.predecessors.Local(), m.queue.Local() }
func (m *shmemMemory) free() error                     { return m.h.Free() }
