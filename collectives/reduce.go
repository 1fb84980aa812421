package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/nodecoll"
	"github.com/goulfm/goulfm/internal/view"
)

// Reduce combines src of all members, element by element and in the order of the
// ranks, into dst of the root. All src have one length, and so has dst at the
// root: else ErrLength there; elsewhere dst is not used and may be nil. dst and
// src may be the same slice. Errors: ErrRoot, ErrLength, ErrMismatch, and those
// of all collectives. MPI 6.9.1.
func Reduce[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T, op Op[T]) error {
	if red, _, ok := reduction(op); ok && shared(c, reduce, root) && (c.Rank() != root || len(dst) == len(src)) {
		to, from := view.Bytes(dst), view.Bytes(src)
		return inMemory(ctx, c, header{kind: reduce, what: root & (1<<whatBits - 1)}, elemOf[T](), len(from),
			func(g *nodecoll.Group, what uint64) { g.Reduce(what, root, to, from, red) })
	}
	x, err := begin(ctx, c, reduce, root, elemOf[T]())
	if err != nil {
		return err
	}
	if x.me == root {
		err = wantLength("dst", len(dst), len(src))
	} else {
		dst = nil
	}
	if err != nil {
		return x.end(err)
	}
	k, err := kernelOf(op)
	if err != nil {
		return x.end(err)
	}
	if err := x.byMessages(len(view.Bytes(src))); err != nil {
		return x.end(err)
	}
	return x.end(reduceTo(x, root, dst, src, k))
}

// reduceTo combines at rank 0 whatever the root is, so that the result does not
// depend on the root, and sends it on.
func reduceTo[T comm.Elem](x *call, root int, dst, src []T, k Kernel[T]) error {
	acc, err := reduceToFirst(x, dst, src, k)
	switch {
	case err != nil || root == 0:
		return err
	case x.me == 0:
		return x.send(root, view.Bytes(acc))
	case x.me == root:
		return x.recv(0, view.Bytes(dst))
	}
	return nil
}

// reduceToFirst combines src of all members at rank 0, in rank order, and
// returns the result there. At a member that combines and has a dst that is as
// long as src, dst holds what it combines; src is never changed, unless it is
// dst.
//
// The member at place v combines places v to v+2^i-1 before it hears from place
// v+2^i: what comes in always belongs to the right of what is there. So a
// program's own operation need not be commutative, and the brackets depend on
// the number of members alone.
func reduceToFirst[T comm.Elem](x *call, dst, src []T, k Kernel[T]) ([]T, error) {
	acc, in := src, []T(nil)
	err := x.fanIn(func(from int) error {
		if in == nil {
			acc, in = accumulator(x, dst, src)
		}
		if err := x.recv(from, view.Bytes(in)); err != nil {
			return err
		}
		k.apply(acc, in)
		return nil
	}, func(parent int) error { return x.send(parent, view.Bytes(acc)) })
	if x.me == 0 && in == nil && dst != nil {
		copy(dst, src) // alone
		acc = dst
	}
	return acc, err
}

// accumulator returns a copy of src to combine into, dst itself where there is
// one, and a buffer for what comes in.
func accumulator[T comm.Elem](x *call, dst, src []T) (acc, in []T) {
	n := len(src)
	if dst != nil {
		copy(dst, src)
		return dst, buffer[T](x, n)
	}
	both := buffer[T](x, 2*n)
	copy(both[:n], src)
	return both[:n], both[n:]
}

// keepBytes is the largest buffer that a call keeps for the next one.
const keepBytes = 4096

// buffer returns memory for n elements; small buffers are used again.
func buffer[T comm.Elem](x *call, n int) []T {
	if kept, ok := x.scratch.([]T); ok && cap(kept) >= n {
		return kept[:n]
	}
	b := make([]T, n)
	if n*view.Size[T]() <= keepBytes {
		x.scratch = b
	}
	return b
}
