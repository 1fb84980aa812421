package collectives

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/protocol/sched"
)

// ReduceValue combines v of all members by f, in the order of the ranks, and returns the
// result at the root, and the zero value elsewhere. The root gets all values and calls f, in
// the goroutine of the call and with nothing held: f may be any function, also one that
// calls the library. Values are any that gob can encode; else the error Is ErrType. Errors:
// ErrRoot, ErrUnsupported without f, and those of all collectives.
func ReduceValue[T any](ctx context.Context, c *comm.Comm, root int, v T, f func(a, b T) T, opts ...Option) (result T, err error) {
	x := prepareValue(ctx, c, reduceValue, root).with(opts)
	if f == nil {
		x.wrong("%w: no operation", comm.ErrUnsupported)
	}
	all, err := gatherValues(x, root, v)
	if err != nil || len(all) == 0 {
		return result, err
	}
	result = all[0]
	for _, next := range all[1:] {
		result = f(result, next)
	}
	return result, nil
}

// ScatterValue returns at rank i the i-th of the root's values, of which there are Size():
// else ErrLength there. Elsewhere values is not used. Values are any that gob can encode;
// else the error Is ErrType. Errors: ErrRoot, and those of all collectives.
func ScatterValue[T any](ctx context.Context, c *comm.Comm, root int, values []T, opts ...Option) (v T, err error) {
	x := prepareValue(ctx, c, scatterValue, root).with(opts)
	var parts, sizes []byte
	var counts []int
	if x.me == root {
		x.wantLength("values", len(values), x.n)
		parts, counts = encodeAll(x, values)
		sizes = lengthWords(counts)
	}
	size := make([]byte, 8)
	x.do(task{verb: sched.Scatter, dst: size, src: sizes, length: 8, sized: true})
	if err := x.firstOfTwo(); err != nil {
		return v, x.end(err)
	}
	_, own, err := roomForAll(size)
	if err != nil {
		return v, x.end(x.refuse(err))
	}
	if x.me == root {
		x.shape.In = x.wantBlocks("values", len(parts), Blocks{Counts: counts}, &x.displs[0])
	}
	x.do(task{verb: sched.Scatter, dst: own, src: parts, length: len(own), layout: sched.Scattered})
	if err := x.second(); err != nil {
		return v, x.end(err)
	}
	return v, x.end(decode(own, &v))
}

// AllgatherValue returns at every member the values v of all, in rank order. Values are any
// that gob can encode; else the error Is ErrType. Errors: those of all collectives.
func AllgatherValue[T any](ctx context.Context, c *comm.Comm, v T, opts ...Option) ([]T, error) {
	x := prepareValue(ctx, c, allgatherValue, noRoot).with(opts)
	b := x.encode(func() ([]byte, error) { return encode(&v) })
	sizes := make([]byte, 8*x.n)
	x.do(task{verb: sched.Allgather, dst: sizes, src: lengthWord(b), length: 8, sized: true})
	if err := x.firstOfTwo(); err != nil {
		return nil, x.end(err)
	}
	counts, all, err := roomForAll(sizes)
	if err != nil {
		return nil, x.end(x.refuse(err))
	}
	x.shape.Out = x.wantBlocks("values", len(all), Blocks{Counts: counts}, &x.displs[0])
	x.do(task{verb: sched.Allgather, dst: all, src: b, length: len(b), layout: sched.Scattered})
	if err := x.second(); err != nil {
		return nil, x.end(err)
	}
	got, err := decodeAll[T](all, counts)
	return got, x.end(err)
}

// AlltoallValue sends the i-th of values to rank i, and returns the received values, by rank. There
// are Size() values: else ErrLength. Values are any that gob can encode; else the error Is ErrType.
// Errors: those of all collectives.
func AlltoallValue[T any](ctx context.Context, c *comm.Comm, values []T, opts ...Option) ([]T, error) {
	x := prepareValue(ctx, c, alltoallValue, noRoot).with(opts)
	x.wantLength("values", len(values), x.n)
	parts, counts := encodeAll(x, values)
	sizes := make([]byte, 8*x.n)
	x.do(task{verb: sched.Alltoall, dst: sizes, src: lengthWords(counts), length: 8, sized: true})
	if err := x.firstOfTwo(); err != nil {
		return nil, x.end(err)
	}
	got, all, err := roomForAll(sizes)
	if err != nil {
		return nil, x.end(x.refuse(err))
	}
	x.shape.Out = x.wantBlocks("values", len(all), Blocks{Counts: got}, &x.displs[0])
	x.shape.In = x.wantBlocks("values", len(parts), Blocks{Counts: counts}, &x.displs[1])
	x.do(task{verb: sched.Alltoall, dst: all, src: parts, layout: sched.Scattered})
	if err := x.second(); err != nil {
		return nil, x.end(err)
	}
	values, err = decodeAll[T](all, got)
	return values, x.end(err)
}

// encodeAll returns the bytes of values one behind the other, and how many each has, unless
// something is wrong already.
func encodeAll[T any](x *call, values []T) (all []byte, counts []int) {
	for i := range values {
		b := x.encode(func() ([]byte, error) { return encode(&values[i]) })
		all, counts = append(all, b...), append(counts, len(b))
	}
	return all, counts
}

// decodeAll is the other way round.
func decodeAll[T any](all []byte, counts []int) ([]T, error) {
	values := make([]T, len(counts))
	for i, n := range counts {
		if err := decode(all[:n], &values[i]); err != nil {
			return nil, fmt.Errorf("value of rank %d: %w", i, err)
		}
		all = all[n:]
	}
	return values, nil
}

func lengthWords(counts []int) (words []byte) {
	for _, n := range counts {
		words = binary.LittleEndian.AppendUint64(words, uint64(n))
	}
	return words
}
