package coll

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// An operation is one collective.
type operation struct {
	name    string
	buffers func(n, size int) int // bytes at the rank of n that needs most; nil: the operation has no message
	make    func(w *comm.Comm, size int) call
}

// A call is a collective with its filled buffers, and the check of its result. start begins the
// nonblocking twin, on the same buffers.
type call struct {
	do    func(ctx context.Context) error
	start func() comm.Request
	check func() error
}

func (c call) loop(ctx context.Context, iters int) error {
	for range iters {
		if err := c.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func operations() []operation {
	message := func(_, size int) int { return size }
	twoVectors := func(_, size int) int { return 2 * size }
	vectorAndPart := func(n, size int) int { return size + size/n }
	blocksAndOwn := func(n, size int) int { return (n + 1) * size }
	blocksTwice := func(n, size int) int { return 2 * n * size }
	return []operation{
		{"barrier", nil, barrier},
		{"bcast", message, bcast},
		{"reduce", twoVectors, reduce},
		{"allreduce", twoVectors, allreduce},
		{"allgather", blocksAndOwn, allgather},
		{"alltoall", blocksTwice, alltoall},
		{"gather", blocksAndOwn, gather},
		{"scatter", blocksAndOwn, scatter},
		{"reduce_scatter", vectorAndPart, reduceScatter},
		{"scan", twoVectors, scan},
	}
}

func names() []string {
	var ns []string
	for _, op := range operations() {
		ns = append(ns, op.name)
	}
	return ns
}

func find(name string) operation {
	all := operations()
	return all[slices.IndexFunc(all, func(op operation) bool { return op.name == name })]
}

// memoryMax bounds the buffers of a rank, in bytes.
const memoryMax = 256 << 20

// sizes leaves out the sizes for which n ranks have no room.
func (op operation) sizes(n int, sizes []int) []int {
	if op.buffers == nil {
		return []int{0}
	}
	return slices.DeleteFunc(slices.Clone(sizes), func(size int) bool { return op.buffers(n, size) > memoryMax })
}

// root is the root of the rooted operations.
const root = 0

func barrier(w *comm.Comm, _ int) call {
	return call{
		do:    func(ctx context.Context) error { return collectives.Barrier(ctx, w) },
		start: func() comm.Request { return collectives.Ibarrier(w) },
		check: func() error { return nil }, // its result is the time
	}
}

func bcast(w *comm.Comm, size int) call {
	buf := make([]byte, size)
	if w.Rank() == root {
		fill(buf, root)
	}
	return call{
		do:    func(ctx context.Context) error { return collectives.Bcast(ctx, w, root, buf) },
		start: func() comm.Request { return collectives.Ibcast(w, root, buf) },
		check: func() error { return parts(buf, size, func(int) int { return root }) },
	}
}

func reduce(w *comm.Comm, size int) call {
	dst, src := vectors(w, size)
	return call{
		do:    func(ctx context.Context) error { return collectives.Reduce(ctx, w, root, dst, src, collectives.Sum) },
		start: func() comm.Request { return collectives.Ireduce(w, root, dst, src, collectives.Sum) },
		check: func() error {
			if w.Rank() != root {
				return nil
			}
			return sums(dst, w.Size(), 0)
		},
	}
}

func allreduce(w *comm.Comm, size int) call {
	dst, src := vectors(w, size)
	return call{
		do:    func(ctx context.Context) error { return collectives.Allreduce(ctx, w, dst, src, collectives.Sum) },
		start: func() comm.Request { return collectives.Iallreduce(w, dst, src, collectives.Sum) },
		check: func() error { return sums(dst, w.Size(), 0) },
	}
}

// reduceScatter gives each rank at least one number.
func reduceScatter(w *comm.Comm, size int) call {
	part := partOf(w, size)
	dst, src := make([]float64, part), numbers(w, part*w.Size())
	return call{
		do: func(ctx context.Context) error {
			return collectives.ReduceScatterBlock(ctx, w, dst, src, collectives.Sum)
		},
		start: func() comm.Request { return collectives.IreduceScatterBlock(w, dst, src, collectives.Sum) },
		check: func() error { return sums(dst, w.Size(), w.Rank()*part) },
	}
}

// The result of scan at rank r is that of r+1 ranks.
func scan(w *comm.Comm, size int) call {
	dst, src := vectors(w, size)
	return call{
		do:    func(ctx context.Context) error { return collectives.Scan(ctx, w, dst, src, collectives.Sum) },
		start: func() comm.Request { return collectives.Iscan(w, dst, src, collectives.Sum) },
		check: func() error { return sums(dst, w.Rank()+1, 0) },
	}
}

func allgather(w *comm.Comm, size int) call {
	dst, src := make([]byte, size*w.Size()), make([]byte, size)
	fill(src, w.Rank())
	return call{
		do:    func(ctx context.Context) error { return collectives.Allgather(ctx, w, dst, src) },
		start: func() comm.Request { return collectives.Iallgather(w, dst, src) },
		check: func() error { return parts(dst, size, func(i int) int { return i }) },
	}
}

// In alltoall the part from rank r to rank d is the r*n+d-th.
func alltoall(w *comm.Comm, size int) call {
	n := w.Size()
	dst, src := make([]byte, size*n), make([]byte, size*n)
	for d := range n {
		fill(src[d*size:(d+1)*size], w.Rank()*n+d)
	}
	return call{
		do:    func(ctx context.Context) error { return collectives.Alltoall(ctx, w, dst, src) },
		start: func() comm.Request { return collectives.Ialltoall(w, dst, src) },
		check: func() error { return parts(dst, size, func(i int) int { return i*n + w.Rank() }) },
	}
}

func gather(w *comm.Comm, size int) call {
	var dst []byte
	if w.Rank() == root {
		dst = make([]byte, size*w.Size())
	}
	src := make([]byte, size)
	fill(src, w.Rank())
	return call{
		do:    func(ctx context.Context) error { return collectives.Gather(ctx, w, root, dst, src) },
		start: func() comm.Request { return collectives.Igather(w, root, dst, src) },
		check: func() error { return parts(dst, size, func(i int) int { return i }) },
	}
}

func scatter(w *comm.Comm, size int) call {
	var src []byte
	if w.Rank() == root {
		src = make([]byte, size*w.Size())
		for d := range w.Size() {
			fill(src[d*size:(d+1)*size], d)
		}
	}
	dst := make([]byte, size)
	return call{
		do:    func(ctx context.Context) error { return collectives.Scatter(ctx, w, root, dst, src) },
		start: func() comm.Request { return collectives.Iscatter(w, root, dst, src) },
		check: func() error { return parts(dst, size, func(int) int { return w.Rank() }) },
	}
}

// partOf is how many numbers each rank has of a vector of size bytes.
func partOf(w *comm.Comm, size int) int { return max(1, size/8/w.Size()) }
