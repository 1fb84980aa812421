package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// A problem is what all collectives are tried on: parts of length elements, those of
// the v variants a little longer, and results that a loop over the ranks computes.
type problem[T comparable] struct {
	n, length, root int
	conv            func(int) T
	two             func(a, b T) T
}

func (p *problem[T]) input(rank, length int) []T { return input(p.conv, rank, length) }

// upTo combines the inputs of ranks 0 to last.
func (p *problem[T]) upTo(last, length int) []T { return fold(p.conv, last+1, length, p.two) }

// uneven are the blocks of a v variant: from the last to the first, with a gap of one
// element before each.
func (p *problem[T]) uneven() (counts, displs []int, total int) {
	counts, displs = make([]int, p.n), make([]int, p.n)
	for r := p.n - 1; r >= 0; r-- {
		counts[r], displs[r] = p.length+r%3, total+1
		total += counts[r] + 1
	}
	return counts, displs, total
}

// guarded returns room for elems elements between two that nobody may touch, and a
// check of them.
func (p *problem[T]) guarded(elems int) (buf []T, intact func() bool) {
	all := make([]T, elems+2)
	for i := range all {
		all[i] = p.conv(-77)
	}
	return all[1 : 1+elems : 1+elems], func() bool { return all[0] == p.conv(-77) && all[elems+1] == p.conv(-77) }
}

// spread puts a block for each rank where it belongs into what was untouched.
func (p *problem[T]) spread(total int, displs []int, block func(r int) []T) []T {
	want, _ := p.guarded(total)
	for r := range p.n {
		copy(want[displs[r]:], block(r))
	}
	return want
}

// A trial is one collective: it fills dst, which has that many elements, from src.
type trial[T comparable] struct {
	name     string
	src      []T
	want     []T // of dst; nil: dst stays as it was
	blocking func(ctx context.Context, w *comm.Comm, dst, src []T) error
	twin     func(w *comm.Comm, dst, src []T) comm.Request
	// inPlace: dst may be src; then they have one length.
	inPlace bool
	elems   int // of dst
}

// trials are the collectives at a rank, by the verb of the table that does them.
func trials[T interface {
	comm.Elem
	comparable
}](p *problem[T], me int, op collectives.Op[T]) map[string][]trial[T] {
	n, length, root := p.n, p.length, p.root
	mine := p.input(me, length)
	counts, displs, total := p.uneven()
	packed, at := make([]int, n), 0
	for r := range n {
		packed[r] = at
		at += counts[r]
	}
	atRoot := func(all []T) []T {
		if me != root {
			return nil
		}
		return all
	}
	part := func(r int) []T { return p.input(r, counts[r]) }
	var all []T
	for r := range n {
		all = append(all, p.input(r, length)...)
	}
	across := transposed(p.conv, n, length, me)
	sends := slices.Repeat(counts[me:me+1], n)
	whole := p.upTo(n-1, at)
	var before []T
	if me > 0 {
		before = p.upTo(me-1, length)
	}
	in, out := []int{(me + n - 1) % n, (me + 1) % n, me}, []int{(me + 1) % n, (me + n - 1) % n, me}
	around := slices.Concat(p.input(in[0], length), p.input(in[1], length), p.input(me, length))
	same := slices.Repeat([]int{length}, 3)
	return map[string][]trial[T]{
		"bcast": {{name: "bcast", want: p.input(root, length),
			blocking: func(ctx context.Context, w *comm.Comm, dst, _ []T) error {
				if me == root {
					copy(dst, mine)
				}
				return collectives.Bcast(ctx, w, root, dst)
			},
			twin: func(w *comm.Comm, dst, _ []T) comm.Request {
				if me == root {
					copy(dst, mine)
				}
				return collectives.Ibcast(w, root, dst)
			}}},
		"reduce": {{name: "reduce", src: mine, want: atRoot(p.upTo(n-1, length)), inPlace: me == root,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Reduce(ctx, w, root, dst, src, op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Ireduce(w, root, dst, src, op) }}},
		"allreduce": {{name: "allreduce", src: mine, want: p.upTo(n-1, length), inPlace: true,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Allreduce(ctx, w, dst, src, op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iallreduce(w, dst, src, op) }}},
		"scan": {{name: "scan", src: mine, want: p.upTo(me, length), inPlace: true,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Scan(ctx, w, dst, src, op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iscan(w, dst, src, op) }}},
		"exscan": {{name: "exscan", src: mine, want: before, elems: length, inPlace: me > 0,
			blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
				return collectives.Exscan(ctx, w, dst, src, op)
			},
			twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iexscan(w, dst, src, op) }}},
		"gather": {
			{name: "gather", src: mine, want: atRoot(all),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Gather(ctx, w, root, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Igather(w, root, dst, src) }},
			{name: "gatherv", src: part(me), want: atRoot(p.spread(total, displs, part)),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Gatherv(ctx, w, root, dst, counts, displs, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.Igatherv(w, root, dst, counts, displs, src)
				}},
			{name: "gatherv, packed", src: part(me), want: atRoot(p.spread(at, packed, part)),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Gatherv(ctx, w, root, dst, counts, nil, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.Igatherv(w, root, dst, counts, packed, src)
				}},
		},
		"scatter": {
			{name: "scatter", src: atRoot(all), want: mine,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Scatter(ctx, w, root, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iscatter(w, root, dst, src) }},
			{name: "scatterv", src: atRoot(p.spread(total, displs, part)), want: part(me),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Scatterv(ctx, w, root, dst, src, counts, displs)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.Iscatterv(w, root, dst, src, counts, displs)
				}},
		},
		"allgather": {
			{name: "allgather", src: mine, want: all,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Allgather(ctx, w, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Iallgather(w, dst, src) }},
			{name: "allgather in place", want: all,
				blocking: func(ctx context.Context, w *comm.Comm, dst, _ []T) error {
					place := dst[me*length : (me+1)*length]
					copy(place, mine)
					return collectives.Allgather(ctx, w, dst, place)
				},
				twin: func(w *comm.Comm, dst, _ []T) comm.Request {
					copy(dst, mine) // not its place: the source is copied away
					return collectives.Iallgather(w, dst, dst[:length])
				}},
			{name: "allgatherv", src: part(me), want: p.spread(total, displs, part),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Allgatherv(ctx, w, dst, counts, displs, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.Iallgatherv(w, dst, counts, displs, src)
				}},
		},
		"alltoall": {
			{name: "alltoall", src: p.input(me, n*length), want: across, inPlace: true,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Alltoall(ctx, w, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request { return collectives.Ialltoall(w, dst, src) }},
			{name: "alltoallv", src: p.input(me, n*counts[me]),
				want: p.spread(total, displs, func(r int) []T { return p.input(r, n*counts[r])[me*counts[r] : (me+1)*counts[r]] }),
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.Alltoallv(ctx, w, dst, counts, displs, src, sends, nil)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.Ialltoallv(w, dst, counts, displs, src, sends, nil)
				}},
		},
		"reduce-scatter": {
			{name: "reduce_scatter_block", src: p.input(me, n*length), want: p.upTo(n-1, n*length)[me*length : (me+1)*length],
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.ReduceScatterBlock(ctx, w, dst, src, op)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IreduceScatterBlock(w, dst, src, op)
				}},
			{name: "reduce_scatter", src: p.input(me, at), want: whole[packed[me] : packed[me]+counts[me]],
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.ReduceScatter(ctx, w, dst, src, counts, op)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IreduceScatter(w, dst, src, counts, op)
				}},
		},
		"neighbor-allgather": {
			{name: "neighbor_allgather", src: mine, want: around,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.NeighborAllgatherOn(ctx, w, in, out, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IneighborAllgatherOn(w, in, out, dst, src)
				}},
			{name: "neighbor_allgatherv", src: mine, want: around,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.NeighborAllgathervOn(ctx, w, in, out, dst, same, nil, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IneighborAllgathervOn(w, in, out, dst, same, nil, src)
				}},
		},
		"neighbor-alltoall": {
			{name: "neighbor_alltoall", src: slices.Concat(mine, mine, mine), want: around, inPlace: true,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.NeighborAlltoallOn(ctx, w, in, out, dst, src)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IneighborAlltoallOn(w, in, out, dst, src)
				}},
			{name: "neighbor_alltoallv", src: slices.Concat(mine, mine, mine), want: around,
				blocking: func(ctx context.Context, w *comm.Comm, dst, src []T) error {
					return collectives.NeighborAlltoallvOn(ctx, w, in, out, dst, same, nil, src, same, nil)
				},
				twin: func(w *comm.Comm, dst, src []T) comm.Request {
					return collectives.IneighborAlltoallvOn(w, in, out, dst, same, nil, src, same, nil)
				}},
		},
	}
}

// try makes one trial every way: blocking, not blocking, and both in place.
func try[T interface {
	comm.Elem
	comparable
}](ctx context.Context, t *testing.T, w *comm.Comm, p *problem[T], at string, c trial[T]) {
	t.Helper()
	elems := max(len(c.want), c.elems)
	check := func(how string, err error, dst []T, intact func() bool) {
		t.Helper()
		want := c.want
		if want == nil {
			want, _ = p.guarded(elems)
		}
		equal(t, c.name+how+" "+at, w.Rank(), err, dst, want)
		if !intact() {
			t.Errorf("%s%s %s at rank %d: wrote beyond its slice", c.name, how, at, w.Rank())
		}
	}
	src := slices.Clone(c.src)
	dst, intact := p.guarded(elems)
	check("", c.blocking(ctx, w, dst, src), dst, intact)
	dst, intact = p.guarded(elems)
	check(", not blocking", ended(ctx, c.twin(w, dst, src)), dst, intact)
	equal(t, "src of "+c.name+" "+at, w.Rank(), nil, src, c.src)
	if !c.inPlace { // others may be, so that this one makes both calls, too
		dst, intact = p.guarded(elems)
		check(", others in place", c.blocking(ctx, w, dst, src), dst, intact)
		dst, intact = p.guarded(elems)
		check(", not blocking, others in place", ended(ctx, c.twin(w, dst, src)), dst, intact)
		return
	}
	dst, intact = p.guarded(elems)
	copy(dst, c.src)
	check(" in place", c.blocking(ctx, w, dst, dst), dst, intact)
	copy(dst, c.src)
	check(" in place, not blocking", ended(ctx, c.twin(w, dst, dst)), dst, intact)
}

// tried makes all trials of a verb, or all there are.
func tried[T interface {
	comm.Elem
	comparable
}](ctx context.Context, t *testing.T, w *comm.Comm, p *problem[T], what, verb string, op collectives.Op[T]) {
	t.Helper()
	at := fmt.Sprintf("of %d %s on %d ranks, root %d", p.length, what, p.n, p.root)
	all := trials(p, w.Rank(), op)
	for _, v := range tableVerbs {
		if verb == "" || v == verb {
			for _, c := range all[v] {
				try(ctx, t, w, p, at, c)
			}
		}
	}
}

var tableVerbs = []string{"bcast", "reduce", "allreduce", "scan", "exscan", "gather", "scatter", "allgather", "alltoall",
	"reduce-scatter", "neighbor-allgather", "neighbor-alltoall"}

// affine makes maps for compose, which does not commute.
func affine(i int) uint64 { return uint64(2*i+3)<<32 | uint64(uint32(i*i+7)) }

func composed(a, b uint64) uint64 {
	acc := []uint64{a}
	compose(acc, []uint64{b})
	return acc[0]
}

// onWorlds makes all trials on worlds of several sizes, with lengths up to longest.
func onWorlds[T interface {
	comm.Elem
	comparable
}](t *testing.T, name string, ns []int, longest int, conv func(int) T, two func(a, b T) T, op collectives.Op[T]) {
	t.Helper()
	for _, n := range ns {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			for i, length := range []int{0, 1, 2, n - 1, n, n + 1, 1000, 100_003} {
				if length > longest || i > 2 && length <= 2 {
					continue
				}
				tried(ctx, t, w, &problem[T]{n, length, i % n, conv, two}, name, "", op)
			}
		})
	}
}

// TestEverythingEqualsSequential: every collective, blocking and not, in place and
// not, against a loop over the ranks, with an operation that does not commute.
func TestEverythingEqualsSequential(t *testing.T) {
	op := collectives.Custom(compose, false)
	small := []int{1, 2, 3, 4, 5, 6, 7, 8}
	onWorlds(t, "maps", small, 1000, affine, composed, op)
	onWorlds(t, "maps", []int{9, 10, 11, 12, 13, 14, 15, 16, 17, 33}, 20, affine, composed, op)
	onWorlds(t, "maps", []int{64}, 1, affine, composed, op)
	onWorlds(t, "maps", []int{3}, 100_003, affine, composed, op)
	if *longRun {
		onWorlds(t, "maps", []int{2, 4, 5, 8}, 100_003, affine, composed, op)
		onWorlds(t, "maps", []int{9, 16, 17, 33, 64}, 1000, affine, composed, op)
	}
}

// TestEverythingOfEachType: all types of elements, with sums.
func TestEverythingOfEachType(t *testing.T) {
	ns, longest := []int{1, 3, 8}, 20
	sums(t, "int8", ns, longest, func(i int) int8 { return int8(i) })
	sums(t, "int16", ns, longest, func(i int) int16 { return int16(i * 99) })
	sums(t, "int32", ns, longest, func(i int) int32 { return int32(i * 77_777_777) })
	sums(t, "int64", ns, longest, func(i int) int64 { return int64(i) * -1e15 })
	sums(t, "int", ns, 1000, func(i int) int { return i << 40 })
	sums(t, "uint8", ns, longest, func(i int) uint8 { return uint8(i % 7 * i) })
	sums(t, "uint16", ns, longest, func(i int) uint16 { return uint16(i * 99) })
	sums(t, "uint32", ns, longest, func(i int) uint32 { return uint32(i * 99) })
	sums(t, "uint64", ns, longest, func(i int) uint64 { return uint64(i) << 50 })
	sums(t, "uint", ns, longest, func(i int) uint { return uint(i * 99) })
	sums(t, "float32", ns, 1000, func(i int) float32 { return float32(i%5) / 2 })
	sums(t, "float64", ns, 1000, func(i int) float64 { return float64(i%5) / 2 })
	sums(t, "celsius", ns, longest, func(i int) celsius { return celsius(i % 5) })
	sums(t, "complex64", ns, longest, func(i int) complex64 { return complex(float32(i%5), 1) })
	sums(t, "complex128", ns, longest, func(i int) complex128 { return complex(1, float64(i%5)) })
	onWorlds(t, "bool", ns, longest, func(i int) bool { return i%3 == 0 }, func(a, b bool) bool { return a != b }, collectives.LXor)
}

func sums[T interface {
	collectives.Number
	comparable
}](t *testing.T, name string, ns []int, longest int, conv func(int) T) {
	t.Helper()
	onWorlds(t, name, ns, longest, conv, func(a, b T) T { return a + b }, collectives.Sum[T])
}

// TestEveryAlgorithmEqualsSequential: each algorithm of each verb, which With chooses,
// whole and in segments, with an operation that commutes and one that does not.
func TestEveryAlgorithmEqualsSequential(t *testing.T) {
	ns, lengths := []int{1, 2, 3, 4, 5, 7, 8, 9}, []int{0, 1, 3, 50}
	if *longRun {
		ns, lengths = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 64}, []int{0, 1, 2, 3, 16, 17, 18, 1000}
	}
	ordered := collectives.Custom(compose, false)
	for _, n := range ns {
		for _, verb := range tableVerbs {
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				for _, choice := range choices(verb) {
					chosen := collectives.With(ctx, choice)
					for i, length := range lengths {
						tried(chosen, t, w, &problem[uint64]{n, length, i % n, affine, composed}, "maps, "+choice, verb, ordered)
						tried(chosen, t, w, &problem[uint64]{n, length, (n - 1 + i) % n, affine, func(a, b uint64) uint64 { return a + b }}, "numbers, "+choice, verb, collectives.Sum[uint64])
					}
				}
			})
		}
	}
}

// choices are the ways of a verb, as With takes them.
func choices(verb string) (all []string) {
	segmented := []string{"bcast/binomial", "bcast/knomial", "bcast/bine", "bcast/chain", "reduce/binomial", "reduce/bine", "reduce/chain",
		"reduce/in-order", "allreduce/ring", "allreduce/reduce-bcast", "scan/linear", "exscan/linear"}
	for _, name := range collectives.AlgorithmsOf(verb) {
		all = append(all, verb+"="+name)
		if slices.Contains(segmented, verb+"/"+name) {
			all = append(all, verb+"="+name+":64")
		}
	}
	return all
}

// TestManyAtOnce has several collectives open, with blocking ones between, and waits
// for them in another order at each rank.
func TestManyAtOnce(t *testing.T) {
	const n, rounds, open = 4, 10, 8
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		for round := range rounds {
			rnd := rand.New(rand.NewPCG(uint64(round), uint64(w.Rank())))
			var rs []comm.Request
			var wants, dsts [][]uint64
			for k := range open {
				p := &problem[uint64]{n, []int{0, 1, 100, 3000}[(k+round)%4], k % n, affine, composed}
				all := trials(p, w.Rank(), collectives.Custom(compose, false))
				c := all[tableVerbs[(k+round)%len(tableVerbs)]][0]
				dst, _ := p.guarded(max(len(c.want), c.elems))
				rs, dsts = append(rs, c.twin(w, dst, c.src)), append(dsts, dst)
				want := c.want
				if want == nil {
					want, _ = p.guarded(c.elems)
				}
				wants = append(wants, want)
			}
			if err := collectives.Barrier(ctx, w); err != nil {
				t.Error(err)
			}
			for i, k := range rnd.Perm(open) {
				var err error
				if i < open/2 {
					err = ended(ctx, rs[k])
				} else if k, _, err = comm.WaitAny(ctx, rs...); k < 0 {
					t.Errorf("round %d: nothing left to wait for: %v", round, err)
					return
				}
				equal(t, fmt.Sprintf("round %d, the %d-th", round, k), w.Rank(), err, dsts[k], wants[k])
			}
			if err := comm.WaitAll(ctx, rs...); !errors.Is(err, comm.ErrInactive) {
				t.Errorf("round %d: waited for again: %v", round, err)
			}
		}
	})
}
