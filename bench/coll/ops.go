package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// An operation is one collective.
type operation struct {
	name  string
	empty bool // it has no message
	make  func(w *comm.Comm, size int) call
}

// A call is a collective with its buffers, filled, and what its result must be.
type call struct {
	do    func(ctx context.Context) error
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
	return []operation{
		{"barrier", true, barrier},
		{"bcast", false, bcast},
		{"reduce", false, reduce},
		{"allreduce", false, allreduce},
		{"allgather", false, allgather},
		{"alltoall", false, alltoall},
		{"gather", false, gather},
		{"scatter", false, scatter},
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

func (op operation) sizes(sizes []int) []int {
	if op.empty {
		return []int{0}
	}
	return sizes
}

// root is the root of the rooted ones.
const root = 0

func barrier(w *comm.Comm, _ int) call {
	return call{
		do:    func(ctx context.Context) error { return collectives.Barrier(ctx, w) },
		check: func() error { return nil }, // its result is the time
	}
}

func bcast(w *comm.Comm, size int) call {
	buf := make([]byte, size)
	if w.Rank() == root {
		fill(buf, size, root)
	}
	return call{
		do:    func(ctx context.Context) error { return collectives.Bcast(ctx, w, root, buf) },
		check: func() error { return parts(buf, size, func(int) int { return root }) },
	}
}

func reduce(w *comm.Comm, size int) call {
	dst, src := vectors(w, size)
	return call{
		do: func(ctx context.Context) error { return collectives.Reduce(ctx, w, root, dst, src, collectives.Sum) },
		check: func() error {
			if w.Rank() != root {
				return nil
			}
			return sums(dst, w.Size())
		},
	}
}

func allreduce(w *comm.Comm, size int) call {
	dst, src := vectors(w, size)
	return call{
		do:    func(ctx context.Context) error { return collectives.Allreduce(ctx, w, dst, src, collectives.Sum) },
		check: func() error { return sums(dst, w.Size()) },
	}
}

// vectors are the result and the input of a reduction: at least one number.
func vectors(w *comm.Comm, size int) (dst, src []float64) {
	n := max(1, size/8)
	dst, src = make([]float64, n), make([]float64, n)
	for i := range src {
		src[i] = float64(w.Rank() + i%7)
	}
	return dst, src
}

// sums checks the sums of what vectors put in at n ranks.
func sums(dst []float64, n int) error {
	for i, v := range dst {
		if want := float64(n*(n-1)/2 + n*(i%7)); v != want {
			return fmt.Errorf("element %d is %v, want %v", i, v, want)
		}
	}
	return nil
}

func allgather(w *comm.Comm, size int) call {
	part := partOf(w, size)
	dst, src := make([]byte, part*w.Size()), make([]byte, part)
	fill(src, part, w.Rank())
	return call{
		do:    func(ctx context.Context) error { return collectives.Allgather(ctx, w, dst, src) },
		check: func() error { return parts(dst, part, func(i int) int { return i }) },
	}
}

// In alltoall the part from rank r to rank d is the r*n+d-th.
func alltoall(w *comm.Comm, size int) call {
	part, n := partOf(w, size), w.Size()
	dst, src := make([]byte, part*n), make([]byte, part*n)
	for d := range n {
		fill(src[d*part:(d+1)*part], part, w.Rank()*n+d)
	}
	return call{
		do:    func(ctx context.Context) error { return collectives.Alltoall(ctx, w, dst, src) },
		check: func() error { return parts(dst, part, func(i int) int { return i*n + w.Rank() }) },
	}
}

func gather(w *comm.Comm, size int) call {
	part := partOf(w, size)
	var dst []byte
	if w.Rank() == root {
		dst = make([]byte, part*w.Size())
	}
	src := make([]byte, part)
	fill(src, part, w.Rank())
	return call{
		do:    func(ctx context.Context) error { return collectives.Gather(ctx, w, root, dst, src) },
		check: func() error { return parts(dst, part, func(i int) int { return i }) },
	}
}

func scatter(w *comm.Comm, size int) call {
	part := partOf(w, size)
	var src []byte
	if w.Rank() == root {
		src = make([]byte, part*w.Size())
		for d := range w.Size() {
			fill(src[d*part:(d+1)*part], part, d)
		}
	}
	dst := make([]byte, part)
	return call{
		do:    func(ctx context.Context) error { return collectives.Scatter(ctx, w, root, dst, src) },
		check: func() error { return parts(dst, part, func(int) int { return w.Rank() }) },
	}
}

// partOf is how many bytes each rank has of size bytes.
func partOf(w *comm.Comm, size int) int { return max(1, size/w.Size()) }

// fill writes the part of that number.
func fill(buf []byte, part, number int) {
	for i := range buf {
		buf[i] = value(number, i%part)
	}
}

// value is what stands at place i of a part. A buffer that nobody wrote is 0.
func value(number, i int) byte { return byte((number*37+i)%255 + 1) }

// parts checks that the i-th part of buf is the one with number(i).
func parts(buf []byte, part int, number func(i int) int) error {
	for i, b := range buf {
		if want := value(number(i/part), i%part); b != want {
			return fmt.Errorf("byte %d is %d, want %d", i, b, want)
		}
	}
	return nil
}
