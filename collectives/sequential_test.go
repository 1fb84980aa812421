package collectives_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// sizes are the numbers of ranks: around powers of two, where trees change.
var sizes, large = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}, []int{16, 17}

const long = 20_003 // beyond one chunk, and no multiple of anything

// lengths are those at which something changes for n ranks.
func lengths(n int) []int {
	all := []int{0, 1, 2, n - 1, n, n + 1, 1000, long}
	slices.Sort(all)
	return slices.Compact(all)
}

// roots are all for few ranks, else the ends and one between; a single root if the test takes long.
func roots(n, length int) []int {
	if length == long {
		return []int{n / 2}
	}
	if n <= 5 {
		return []int{0, 1, 2, 3, 4}[:n]
	}
	return []int{0, n / 2, n - 1}
}

// input is the input of a rank at a place.
func input[T any](conv func(int) T, rank, length int) []T {
	out := make([]T, length)
	for i := range out {
		out[i] = conv(rank*131 + i*7 + 1)
	}
	return out
}

// concat is the expected result of Gather and Allgather.
func concat[T any](conv func(int) T, n, length int) []T {
	var out []T
	for r := range n {
		out = append(out, input(conv, r, length)...)
	}
	return out
}

// transposed is the expected result of Alltoall at a rank, from parts of length each.
func transposed[T any](conv func(int) T, n, length, me int) []T {
	var out []T
	for r := range n {
		out = append(out, input(conv, r, n*length)[me*length:(me+1)*length]...)
	}
	return out
}

// equal reports a difference at a rank.
func equal[T comparable](t *testing.T, what string, me int, err error, got, want []T) {
	t.Helper()
	if err != nil {
		t.Errorf("%s at rank %d: %v", what, me, err)
		return
	}
	if !slices.Equal(got, want) {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s at rank %d: differs from place %d on (%d and %d elements)", what, me, i, len(got), len(want))
	}
}

type celsius float64
type truth bool

func TestMovesEqualSequential(t *testing.T) {
	moves(t, "float64", sizes, long, func(i int) float64 { return float64(i) / 3 })
	moves(t, "uint16", large, long, func(i int) uint16 { return uint16(i) })
	few := []int{1, 2, 5, 8}
	moves(t, "uint8", few, 1000, func(i int) uint8 { return uint8(i) })
	moves(t, "int16", few, 1000, func(i int) int16 { return int16(-i) })
	moves(t, "int", few, 1000, func(i int) int { return i << 40 })
	moves(t, "complex128", few, 1000, func(i int) complex128 { return complex(float64(i), -float64(i)) })
	moves(t, "bool", few, 1000, func(i int) bool { return i%3 == 0 })
	moves(t, "celsius", few, 1000, func(i int) celsius { return celsius(i) })
}

// moves checks everything that moves data and computes nothing.
func moves[T comparable](t *testing.T, name string, sizes []int, longest int, conv func(int) T) {
	for _, n := range sizes {
		type shape struct {
			length int
			all    []T   // Gather, Allgather
			across [][]T // Alltoall
		}
		var shapes []shape
		for _, length := range lengths(n) {
			if length <= longest {
				s := shape{length: length, all: concat(conv, n, length)}
				for me := range n {
					s.across = append(s.across, transposed(conv, n, length, me))
				}
				shapes = append(shapes, s)
			}
		}
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			me := w.Rank()
			for _, s := range shapes {
				at := func(what string) string { return fmt.Sprintf("%s of %d %s on %d ranks", what, s.length, name, n) }
				mine := input(conv, me, s.length)
				for _, root := range roots(n, s.length) {
					buf := slices.Clone(mine)
					err := collectives.Bcast(ctx, w, root, buf)
					equal(t, at("bcast"), me, err, buf, input(conv, root, s.length))

					var dst, src []T
					if me == root {
						dst = make([]T, len(s.all))
					}
					err = collectives.Gather(ctx, w, root, dst, mine)
					if me == root {
						equal(t, at("gather"), me, err, dst, s.all)
						copy(dst, make([]T, len(dst)))
						place := dst[me*s.length : (me+1)*s.length]
						copy(place, mine)
						err = collectives.Gather(ctx, w, root, dst, place)
						equal(t, at("gather in place"), me, err, dst, s.all)
						src = s.all
					} else {
						equal(t, at("gather"), me, err, mine, input(conv, me, s.length))
						err = collectives.Gather(ctx, w, root, dst, mine)
						equal(t, at("gather"), me, err, mine, input(conv, me, s.length))
					}

					buf = make([]T, s.length)
					err = collectives.Scatter(ctx, w, root, buf, src)
					equal(t, at("scatter"), me, err, buf, mine)
					if me == root {
						buf = slices.Clone(s.all)[me*s.length : (me+1)*s.length]
					}
					err = collectives.Scatter(ctx, w, root, buf, src)
					equal(t, at("scatter in place"), me, err, buf, mine)
				}
				dst := make([]T, len(s.all))
				err := collectives.Allgather(ctx, w, dst, mine)
				equal(t, at("allgather"), me, err, dst, s.all)
				dst = make([]T, len(s.all))
				place := dst[me*s.length : (me+1)*s.length]
				copy(place, mine)
				err = collectives.Allgather(ctx, w, dst, place)
				equal(t, at("allgather in place"), me, err, dst, s.all)

				src := input(conv, me, n*s.length)
				err = collectives.Alltoall(ctx, w, dst, src)
				equal(t, at("alltoall"), me, err, dst, s.across[me])
				err = collectives.Alltoall(ctx, w, src, src)
				equal(t, at("alltoall in place"), me, err, src, s.across[me])
			}
		})
	}
}

// A reduction is an operation with its meaning for two elements.
type reduction[T comparable] struct {
	name string
	op   collectives.Op[T]
	two  func(a, b T) T
}

func TestReductionsEqualSequential(t *testing.T) {
	reductions(t, "float64", sizes, long, exact[float64], reals[float64]()...)
	reductions(t, "float32", large, long, exact[float32], reals[float32]()...)
	few := []int{1, 2, 3, 7, 8}
	reductions(t, "int32", few, 1000, func(i int) int32 { return int32(i * 77_777_777) }, integers[int32]()...)
	reductions(t, "uint8", few, 1000, func(i int) uint8 { return uint8(i % 7 * i) }, integers[uint8]()...)
	reductions(t, "int", few, 1000, func(i int) int { return i%5 - 2 }, integers[int]()...)
	reductions(t, "uint64", few, 1000, func(i int) uint64 { return uint64(i) << 50 }, integers[uint64]()...)
	reductions(t, "int8", few, 1000, func(i int) int8 { return int8(i) }, integers[int8]()...)
	reductions(t, "int16", few, 1000, func(i int) int16 { return int16(i * 99) }, integers[int16]()...)
	reductions(t, "int64", few, 1000, func(i int) int64 { return int64(i) * -1e15 }, integers[int64]()...)
	reductions(t, "uint16", few, 1000, func(i int) uint16 { return uint16(i * 99) }, integers[uint16]()...)
	reductions(t, "uint32", few, 1000, func(i int) uint32 { return uint32(i * 99) }, integers[uint32]()...)
	reductions(t, "uint", few, 1000, func(i int) uint { return uint(i * 99) }, integers[uint]()...)
	reductions(t, "float32", few, 1000, exact[float32], reals[float32]()...)
	reductions(t, "celsius", few, 1000, exact[celsius], reals[celsius]()...)
	reductions(t, "complex64", few, 1000, func(i int) complex64 { return complex(exact[float32](i), 0) }, numbers[complex64]()...)
	reductions(t, "complex128", few, 1000, func(i int) complex128 { return complex(0, exact[float64](i)) }, numbers[complex128]()...)
	reductions(t, "bool", few, 1000, func(i int) bool { return i%3 == 0 }, logical(func(b bool) bool { return b }, func(b bool) bool { return b })...)
	reductions(t, "truth", few, 1000, func(i int) truth { return i%5 != 0 }, logical(func(f truth) bool { return bool(f) }, func(b bool) truth { return truth(b) })...)
}

// exact makes numbers whose sums and products are exact in any order.
func exact[T ~float32 | ~float64](i int) T { return []T{1, 2, 0.5, -1, 4}[i%5] }

func numbers[T collectives.Number]() []reduction[T] {
	return []reduction[T]{
		{"sum", collectives.Sum[T], func(a, b T) T { return a + b }},
		{"prod", collectives.Prod[T], func(a, b T) T { return a * b }},
	}
}

func reals[T collectives.Real]() []reduction[T] {
	return append(numbers[T](),
		reduction[T]{"max", collectives.Max[T], func(a, b T) T {
			if b > a {
				return b
			}
			return a
		}},
		reduction[T]{"min", collectives.Min[T], func(a, b T) T {
			if b < a {
				return b
			}
			return a
		}})
}

func integers[T collectives.Integer]() []reduction[T] {
	return append(append(reals[T](),
		reduction[T]{"band", collectives.BAnd[T], func(a, b T) T { return a & b }},
		reduction[T]{"bor", collectives.BOr[T], func(a, b T) T { return a | b }},
		reduction[T]{"bxor", collectives.BXor[T], func(a, b T) T { return a ^ b }}),
		logical(func(v T) bool { return v != 0 }, func(b bool) T {
			if b {
				return 1
			}
			return 0
		})...)
}

func logical[T collectives.Logical](truth func(T) bool, of func(bool) T) []reduction[T] {
	return []reduction[T]{
		{"land", collectives.LAnd[T], func(a, b T) T { return of(truth(a) && truth(b)) }},
		{"lor", collectives.LOr[T], func(a, b T) T { return of(truth(a) || truth(b)) }},
		{"lxor", collectives.LXor[T], func(a, b T) T { return of(truth(a) != truth(b)) }},
	}
}

// reductions checks Reduce and Allreduce with operations whose result is exact
// in any bracketing for these inputs.
func reductions[T comparable](t *testing.T, name string, sizes []int, longest int, conv func(int) T, ops ...reduction[T]) {
	for _, n := range sizes {
		want := map[string][]T{} // by operation and length
		key := func(op reduction[T], length int) string { return fmt.Sprint(op.name, length) }
		var shapes []int
		for _, length := range lengths(n) {
			if length <= longest {
				shapes = append(shapes, length)
				for _, op := range ops {
					want[key(op, length)] = fold(conv, n, length, op.two)
				}
			}
		}
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			for _, length := range shapes {
				for i, op := range ops {
					at := fmt.Sprintf("%s of %d %s on %d ranks", op.name, length, name, n)
					reduceAll(ctx, t, w, at, input(conv, w.Rank(), length), want[key(op, length)], op.op, roots(n, length)[i%len(roots(n, length))])
				}
			}
			for _, root := range roots(n, n) {
				at := fmt.Sprintf("%s of %d %s on %d ranks to %d", ops[0].name, n, name, n, root)
				reduceAll(ctx, t, w, at, input(conv, w.Rank(), n), want[key(ops[0], n)], ops[0].op, root)
			}
		})
	}
}

// fold is the dumb version: rank by rank.
func fold[T any](conv func(int) T, n, length int, two func(a, b T) T) []T {
	acc := input(conv, 0, length)
	for r := 1; r < n; r++ {
		for i, v := range input(conv, r, length) {
			acc[i] = two(acc[i], v)
		}
	}
	return acc
}

func reduceAll[T comparable](ctx context.Context, t *testing.T, w *comm.Comm, at string, mine, want []T, op collectives.Op[T], root int) {
	t.Helper()
	me := w.Rank()
	dst, src := make([]T, len(mine)), slices.Clone(mine)
	err := collectives.Allreduce(ctx, w, dst, src, op)
	equal(t, "allreduce "+at, me, err, dst, want)
	equal(t, "src of allreduce "+at, me, nil, src, mine)
	err = collectives.Allreduce(ctx, w, src, src, op)
	equal(t, "allreduce in place "+at, me, err, src, want)

	copy(src, mine)
	if me != root {
		err = collectives.Reduce(ctx, w, root, nil, src, op)
		equal(t, "src of reduce "+at, me, err, src, mine)
		err = collectives.Reduce(ctx, w, root, dst, src, op)
		equal(t, "dst of reduce elsewhere "+at, me, err, dst, want) // as before
		return
	}
	copy(dst, make([]T, len(dst)))
	err = collectives.Reduce(ctx, w, root, dst, src, op)
	equal(t, "reduce "+at, me, err, dst, want)
	equal(t, "src of reduce "+at, me, nil, src, mine)
	err = collectives.Reduce(ctx, w, root, src, src, op)
	equal(t, "reduce in place "+at, me, err, src, want)
}
