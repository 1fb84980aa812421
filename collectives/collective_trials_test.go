package collectives_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// everyTableVerb are the verbs of the table, tableVerbs those that move elements, and
// the others those with a root and those that reduce.
var (
	everyTableVerb = append([]string{"barrier"}, tableVerbs...)
	tableVerbs     = []string{"bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter", "allgather", "alltoall",
		"reduce-scatter", "neighbor-allgather", "neighbor-alltoall"}
	rootedVerbs   = []string{"bcast", "reduce", "gather", "scatter"}
	reducingVerbs = []string{"reduce", "allreduce", "scan", "exscan", "reduce-scatter"}
	locVerbs      = []string{"reduce", "allreduce"}
)

// barrier counts the ranks that have entered: no rank may leave before all have entered.
func (p *problem[T]) barrier(me int) []*trial[T] {
	enter := func() { p.barriers[me]++; p.entered.Add(1) }
	left := func(err error) error {
		if entered := p.entered.Load(); err == nil && entered < p.barriers[me]*int64(p.n) {
			return fmt.Errorf("left its barrier %d of %d ranks when %d had been entered", p.barriers[me], p.n, entered)
		}
		return err
	}
	return []*trial[T]{{name: "barrier",
		blocking: func(ctx context.Context, w *comm.Comm, _, _ []T) error {
			enter()
			return left(collectives.Barrier(ctx, w))
		},
		twin: func(w *comm.Comm, _, _ []T) comm.Request {
			enter()
			return collectives.Ibarrier(w)
		}}}
}

// valuesMax is up to how many elements values are tried at each root: gob is slow.
const valuesMax = 1000

func (p *problem[T]) bcast(root, me int) []*trial[T] {
	c := &trial[T]{name: "bcast", want: one(p.block(root)),
		blocking: func(ctx context.Context, w *comm.Comm, dst, _ []T) error { return collectives.Bcast(ctx, w, root, dst) },
		twin:     func(w *comm.Comm, dst, _ []T) comm.Request { return collectives.Ibcast(w, root, dst) }}
	if me == root {
		c.before = c.want
	}
	if p.length > valuesMax && root != p.n/2 {
		return []*trial[T]{c}
	}
	value := &trial[T]{name: "bcast_value", before: c.before, want: c.want,
		blocking: func(ctx context.Context, w *comm.Comm, dst, _ []T) error {
			var v []T
			if me == root {
				v = slices.Clone(dst)
			}
			err := collectives.BcastValue(ctx, w, root, &v)
			return filled(dst, v, err)
		}}
	return []*trial[T]{c, value}
}

// filled puts a value into dst, which must have the length of the value.
func filled[T any](dst, v []T, err error) error {
	if err == nil && copy(dst, v) != max(len(dst), len(v)) {
		return fmt.Errorf("%d elements, want %d", len(v), len(dst))
	}
	return err
}

func (p *problem[T]) reduceTo(root, me int) []*trial[T] {
	c := &trial[T]{name: "reduce", src: p.term(me, p.length),
		blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
			return collectives.Reduce(ctx, w, root, dst, src, p.op)
		},
		twin: func(w *comm.Comm, dst, src []T) comm.Request {
			return collectives.Ireduce(w, root, dst, src, p.op)
		}}
	p.atRoot(c, root, me, p.upTo()[p.n-1])
	return []*trial[T]{c}
}

// atRoot requires the result of a reduction at the root, and an unchanged dst elsewhere.
func (r *results[T]) atRoot(c *trial[T], root, me int, result []T) {
	c.unused, c.want = me != root, one(result)
	if c.unused {
		c.want = r.holes(r.length)
	}
	c.places = []place{{elsewhere: c.unused}}
}

func (p *problem[T]) allreduce(me int) []*trial[T] {
	return []*trial[T]{{name: "allreduce", src: p.term(me, p.length), want: one(p.upTo()[p.n-1]), places: []place{{}},
		blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
			return collectives.Allreduce(ctx, w, dst, src, p.op)
		},
		twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iallreduce(w, dst, src, p.op) }}}
}

func (p *problem[T]) scan(me int) []*trial[T] {
	return []*trial[T]{{name: "scan", src: p.term(me, p.length), want: one(p.upTo()[me]), places: []place{{}},
		blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
			return collectives.Scan(ctx, w, dst, src, p.op)
		},
		twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iscan(w, dst, src, p.op) }}}
}

// exscan leaves rank 0 nothing.
func (p *problem[T]) exscan(me int) []*trial[T] {
	want := p.holes(p.length)
	if me > 0 {
		want = one(p.upTo()[me-1])
	}
	return []*trial[T]{{name: "exscan", src: p.term(me, p.length), want: want, places: []place{{elsewhere: me == 0}},
		blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
			return collectives.Exscan(ctx, w, dst, src, p.op)
		},
		twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iexscan(w, dst, src, p.op) }}}
}

func (p *problem[T]) gather(root, me int) []*trial[T] {
	cs := []*trial[T]{
		{name: "gather", src: one(p.block(me)), want: p.inOrder(p.block), places: []place{{src: me * p.length}},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Gather(ctx, w, root, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Igather(w, root, dst, src) }},
		{name: "gatherv", src: one(p.part(me)), want: p.scattered(p.part), places: []place{{src: p.displs[me]}}, layout: sched.Scattered,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Gatherv(ctx, w, root, dst, collectives.Blocks{Counts: p.counts, Displs: p.displs}, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Igatherv(w, root, dst, collectives.Blocks{Counts: p.counts, Displs: p.displs}, src)
			}},
		{name: "gatherv, packed", src: one(p.part(me)), want: p.inOrder(p.part), layout: sched.Scattered,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Gatherv(ctx, w, root, dst, collectives.Blocks{Counts: p.counts}, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Igatherv(w, root, dst, collectives.Blocks{Counts: p.counts, Displs: p.packed}, src)
			}},
	}
	for _, c := range cs {
		if me != root {
			c.unused, c.want = true, p.holes(p.length)
			for i := range c.places {
				c.places[i] = place{elsewhere: true}
			}
		}
	}
	if p.length > valuesMax && root != p.n/2 {
		return cs
	}
	return append(cs, &trial[T]{name: "gather_value", want: cs[2].want, unused: me != root,
		blocking: func(ctx context.Context, w *comm.Comm, dst, _ []T) error {
			all, err := collectives.GatherValue(ctx, w, root, p.part(me))
			if me != root {
				return err
			}
			return filled(dst, slices.Concat(all...), err)
		}})
}

func (p *problem[T]) scatter(root, me int) []*trial[T] {
	cs := []*trial[T]{
		{name: "scatter", src: p.inOrder(p.block), want: one(p.block(me)), places: []place{{dst: me * p.length}},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Scatter(ctx, w, root, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iscatter(w, root, dst, src) }},
		{name: "scatterv", src: p.scattered(p.part), want: one(p.part(me)), places: []place{{dst: p.displs[me]}}, layout: sched.Scattered,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Scatterv(ctx, w, root, dst, src, collectives.Blocks{Counts: p.counts, Displs: p.displs})
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Iscatterv(w, root, dst, src, collectives.Blocks{Counts: p.counts, Displs: p.displs})
			}},
		{name: "scatterv, packed", src: p.inOrder(p.part), want: one(p.part(me)), layout: sched.Scattered,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Scatterv(ctx, w, root, dst, src, collectives.Blocks{Counts: p.counts})
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Iscatterv(w, root, dst, src, collectives.Blocks{Counts: p.counts, Displs: p.packed})
			}},
	}
	for _, c := range cs {
		if me != root {
			c.src = nil
			for i := range c.places {
				c.places[i] = place{elsewhere: true}
			}
		}
	}
	return cs
}

// allgather may have src at its place in dst, or anywhere else there.
func (p *problem[T]) allgather(me int) []*trial[T] {
	return []*trial[T]{
		{name: "allgather", src: one(p.block(me)), want: p.inOrder(p.block), places: []place{{src: me * p.length}, {}},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Allgather(ctx, w, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iallgather(w, dst, src) }},
		{name: "allgatherv", src: one(p.part(me)), want: p.scattered(p.part), places: []place{{src: p.displs[me]}}, layout: sched.Scattered,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Allgatherv(ctx, w, dst, collectives.Blocks{Counts: p.counts, Displs: p.displs}, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Iallgatherv(w, dst, collectives.Blocks{Counts: p.counts, Displs: p.displs}, src)
			}},
	}
}

// alltoall has uneven parts of another length from each rank. They lie from the last to
// the first, or one behind the other.
func (p *problem[T]) alltoall(me int) []*trial[T] {
	n, counts := p.n, p.counts
	sends, down := slices.Repeat(counts[me:me+1], n), make([]int, n)
	for r := range n {
		down[r] = (n - 1 - r) * counts[me]
	}
	from := func(r, length, at int) []T { return p.moved.of(r, n*length)[at*length : (at+1)*length] }
	return []*trial[T]{
		{name: "alltoall", src: one(p.moved.of(me, n*p.length)), places: []place{{}},
			want: p.inOrder(func(r int) []T { return from(r, p.length, me) }),
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Alltoall(ctx, w, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Ialltoall(w, dst, src) }},
		{name: "alltoallv", src: one(p.moved.of(me, n*counts[me])), layout: sched.Scattered,
			want: p.scattered(func(r int) []T { return from(r, counts[r], n-1-me) }),
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Alltoallv(ctx, w, dst, collectives.Blocks{Counts: counts, Displs: p.displs}, src, collectives.Blocks{Counts: sends, Displs: down})
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Ialltoallv(w, dst, collectives.Blocks{Counts: counts, Displs: p.displs}, src, collectives.Blocks{Counts: sends, Displs: down})
			}},
		{name: "alltoallv, packed", src: one(p.moved.of(me, n*counts[me])), places: []place{{}}, layout: sched.Scattered,
			want: p.inOrder(func(r int) []T { return from(r, counts[r], me) }),
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Alltoallv(ctx, w, dst, collectives.Blocks{Counts: counts}, src, collectives.Blocks{Counts: sends})
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.Ialltoallv(w, dst, collectives.Blocks{Counts: counts}, src, collectives.Blocks{Counts: sends})
			}},
	}
}

// reduceScatter may have dst where its part of src is, or at the beginning of src.
func (p *problem[T]) reduceScatter(me int) []*trial[T] {
	at, to := p.packed[me], p.packed[me]+p.counts[me]
	return []*trial[T]{
		{name: "reduce_scatter_block", src: p.term(me, p.n*p.length), want: one(p.whole()[me*p.length : (me+1)*p.length]),
			places: []place{{dst: me * p.length}, {}},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.ReduceScatterBlock(ctx, w, dst, src, p.op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IreduceScatterBlock(w, dst, src, p.op)
			}},
		{name: "reduce_scatter", src: p.term(me, len(p.whole())), want: one(p.whole()[at:to]), places: []place{{dst: at}}, layout: sched.Packed,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.ReduceScatter(ctx, w, dst, src, p.counts, p.op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IreduceScatter(w, dst, src, p.counts, p.op)
			}},
	}
}

// neighbors makes each rank receive from both sides and itself, and send there: the i-th part that
// a rank receives is the i-th part that the other rank sends.
func (p *problem[T]) neighbors(me int) (in, out []int) {
	before, after := (me+p.n-1)%p.n, (me+1)%p.n
	return []int{before, after, me}, []int{after, before, me}
}

func (p *problem[T]) neighborAllgather(me int) []*trial[T] {
	in, out := p.neighbors(me)
	counts := []int{p.counts[in[0]], p.counts[in[1]], p.counts[in[2]]}
	displs := []int{counts[1] + 1, 0, counts[1] + counts[0] + 1}
	return []*trial[T]{
		{name: "neighbor_allgather", src: one(p.block(me)), want: [][]T{p.block(in[0]), p.block(in[1]), p.block(in[2])},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.NeighborAllgatherOn(ctx, w, in, out, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IneighborAllgatherOn(w, in, out, dst, src)
			}},
		{name: "neighbor_allgatherv", src: one(p.part(me)), layout: sched.Scattered,
			want: [][]T{p.part(in[1]), p.holes(1)[0], p.part(in[0]), p.part(in[2])},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.NeighborAllgathervOn(ctx, w, in, out, dst, collectives.Blocks{Counts: counts, Displs: displs}, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IneighborAllgathervOn(w, in, out, dst, collectives.Blocks{Counts: counts, Displs: displs}, src)
			}},
	}
}

func (p *problem[T]) neighborAlltoall(me int) []*trial[T] {
	in, out := p.neighbors(me)
	l := p.length
	part := func(i, length, at int) []T { return p.moved.of(in[i], 3*l+3)[at : at+length] }
	counts, at, displs := []int{l, l + 1, l + 2}, []int{0, l, 2*l + 1}, []int{l + 2, 0, 2*l + 2}
	return []*trial[T]{
		{name: "neighbor_alltoall", src: one(p.moved.of(me, 3*l)), places: []place{{}},
			want: [][]T{part(0, l, 0), part(1, l, l), part(2, l, 2*l)},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.NeighborAlltoallOn(ctx, w, in, out, dst, src)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IneighborAlltoallOn(w, in, out, dst, src)
			}},
		{name: "neighbor_alltoallv", src: one(p.moved.of(me, 3*l+3)), layout: sched.Scattered,
			want: [][]T{part(1, counts[1], at[1]), p.holes(1)[0], part(0, counts[0], at[0]), part(2, counts[2], at[2])},
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.NeighborAlltoallvOn(ctx, w, in, out, dst, collectives.Blocks{Counts: counts, Displs: displs}, src, collectives.Blocks{Counts: counts})
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request {
				return collectives.IneighborAlltoallvOn(w, in, out, dst, collectives.Blocks{Counts: counts, Displs: displs}, src, collectives.Blocks{Counts: counts, Displs: at})
			}},
	}
}

// trial is a reduction of values with indices, which has no twin.
func (p *locProblem[V]) trial(verb string, root, me int) *trial[collectives.Loc[V]] {
	type loc = collectives.Loc[V]
	op := map[string]collectives.LocOp[V]{"minloc": collectives.MinLoc[V], "maxloc": collectives.MaxLoc[V]}[p.by.name]
	c := &trial[loc]{name: verb + "_loc", src: one(p.by.series.of(me, p.length)), want: one(p.upTo()[p.n-1]), places: []place{{}},
		blocking: func(ctx context.Context, w *comm.Comm, dst, src []loc) error {
			return collectives.AllreduceLoc(ctx, w, dst, src, op)
		}}
	if verb == "reduce" {
		p.atRoot(c, root, me, p.upTo()[p.n-1])
		c.blocking = func(ctx context.Context, w *comm.Comm, dst, src []loc) error {
			return collectives.ReduceLoc(ctx, w, root, dst, src, op)
		}
	}
	return c
}
