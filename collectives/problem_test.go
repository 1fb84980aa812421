package collectives_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/internal/base/byteview"
)

// A subject has the inputs of collectives at all ranks.
type subject interface {
	String() string
	// try makes the trials of a verb at a rank, which are as many at all.
	try(s *session, verb string, root int)
	trialsOf(verb string) int
	// blockBytes is how long a rank's block is.
	blockBytes() int
	// ordered reports that the operation does not commute.
	ordered() bool
}

// results are the inputs of n ranks, length elements each, and the result of a loop over the ranks:
// computed at the first request, and shared by all ranks.
type results[T comparable] struct {
	*elements[T]
	n, length int
	by        terms[T]
	empty     []T // holes
	// upTo are the contributions of ranks 0 to r combined, by r.
	upTo func() [][]T
}

func newResults[T comparable](e *elements[T], n, length, op int) *results[T] {
	r := &results[T]{elements: e, n: n, length: length, by: e.terms[op]}
	e.extend(r.by.series, n, max(n, 3)*(length+2)) // 3 neighbours
	r.empty = slices.Repeat([]T{e.desks[0].hole}, max(length, 1))
	r.upTo = sync.OnceValue(r.prefixes)
	return r
}

func (r *results[T]) String() string {
	return fmt.Sprintf("%d %s, %s, %d ranks", r.length, r.name, r.by.name, r.n)
}

func (r *results[T]) blockBytes() int { return r.length * byteview.Size[T]() }
func (r *results[T]) ordered() bool   { return r.by.ordered }

// prefixes are the dumb version of Scan.
func (r *results[T]) prefixes() (all [][]T) {
	acc := slices.Clone(r.by.series.of(0, r.length))
	for rank := range r.n {
		if rank > 0 {
			r.add(acc, rank)
		}
		all = append(all, slices.Clone(acc))
	}
	return all
}

// add combines acc with the input of a rank.
func (r *results[T]) add(acc []T, rank int) {
	for i, v := range r.by.series.of(rank, len(acc)) {
		acc[i] = r.by.two(acc[i], v)
	}
}

// holes are as many places that nobody has written to, at most a block or one.
func (r *results[T]) holes(elems int) [][]T { return one(r.empty[:elems]) }

// A problem has the inputs of all collectives: blocks of length elements, those of the v variants
// up to two longer.
type problem[T comparable] struct {
	*results[T]
	op       collectives.Op[T]
	counts   []int      // of the blocks of v variants
	packed   []int      // where they are, one behind the other
	displs   []int      // where they are, from the last to the first, a hole before each
	whole    func() []T // the packed vectors of all ranks, combined
	entered  atomic.Int64
	barriers []int64 // that a rank has made
}

func newProblem[T comparable](e *plain[T], n, length, op int) *problem[T] {
	p := &problem[T]{results: newResults(&e.elements, n, length, op), op: e.op[op], displs: make([]int, n), barriers: make([]int64, n)}
	at := 0
	for r := range n {
		p.counts, p.packed = append(p.counts, length+r%3), append(p.packed, at)
		at += p.counts[r]
	}
	p.whole = sync.OnceValue(func() []T {
		acc := slices.Clone(p.by.series.of(0, at))
		for r := 1; r < n; r++ {
			p.add(acc, r)
		}
		return acc
	})
	behind := 0
	for r := n - 1; r >= 0; r-- {
		p.displs[r] = behind + 1
		behind += 1 + p.counts[r]
	}
	return p
}

// composed is a problem of its own with an operation that does not commute.
func composed(n, length int) *problem[uint64] {
	e := wordElements()
	return newProblem(e, n, length, e.ops()-1)
}

// scattered places the blocks by displs, and inOrder places them as packed does.
func (p *problem[T]) scattered(block func(r int) []T) (parts [][]T) {
	hole := p.holes(1)[0]
	for r := p.n - 1; r >= 0; r-- {
		parts = append(parts, hole, block(r))
	}
	return parts
}

func (p *problem[T]) inOrder(block func(r int) []T) (parts [][]T) {
	for r := range p.n {
		parts = append(parts, block(r))
	}
	return parts
}

// block and part are the inputs of a rank for blocks of one length, and for blocks of different
// lengths.
func (p *problem[T]) block(r int) []T { return p.moved.of(r, p.length) }
func (p *problem[T]) part(r int) []T  { return p.moved.of(r, p.counts[r]) }

// term is the input of a rank for a reduction.
func (p *problem[T]) term(r, length int) [][]T { return one(p.by.series.of(r, length)) }

func one[T any](part []T) [][]T { return [][]T{part} }

func (p *problem[T]) try(s *session, verb string, root int) {
	d := p.desks[s.w.Rank()]
	for i, c := range p.trials(verb, root, s.w.Rank()) {
		if s.takes[c.layout] && (s.only == everyTrial || s.only == i) {
			d.try(s, c)
		}
	}
}

func (p *problem[T]) trialsOf(verb string) int { return len(p.trials(verb, p.n/2, 0)) }

// trials are the collectives that a verb of the table does.
func (p *problem[T]) trials(verb string, root, me int) []*trial[T] {
	switch verb {
	case "barrier":
		return p.barrier(me)
	case "bcast":
		return p.bcast(root, me)
	case "reduce":
		return p.reduceTo(root, me)
	case "allreduce":
		return p.allreduce(me)
	case "scan":
		return p.scan(me)
	case "exscan":
		return p.exscan(me)
	case "gather":
		return p.gather(root, me)
	case "scatter":
		return p.scatter(root, me)
	case "allgather":
		return p.allgather(me)
	case "alltoall":
		return p.alltoall(me)
	case "reduce-scatter":
		return p.reduceScatter(me)
	case "neighbor-allgather":
		return p.neighborAllgather(me)
	case "neighbor-alltoall":
		return p.neighborAlltoall(me)
	}
	panic("no verb " + verb)
}

// A locProblem has the inputs of reductions of values with indices.
type locProblem[V collectives.Real] struct {
	*results[collectives.Loc[V]]
}

func (p *locProblem[V]) try(s *session, verb string, root int) {
	d := p.desks[s.w.Rank()]
	d.try(s, p.trial(verb, root, s.w.Rank()))
}

func (p *locProblem[V]) trialsOf(string) int { return 1 }
