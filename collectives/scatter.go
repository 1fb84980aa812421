package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/view"
)

// Scatter cuts src of the root into Size() equal parts and copies the i-th into
// dst of rank i. src at the root has len(dst) times Size() elements: else
// ErrLength there, or ErrMismatch where a message of another length arrives.
// Elsewhere src is not used and may be nil. The root's dst may be its place in
// src. Errors: ErrRoot, ErrLength, ErrMismatch, and those of all collectives.
// MPI 6.6.
func Scatter[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) error {
	x, err := begin(ctx, c, scatter, root, elemOf[T]())
	if err != nil {
		return err
	}
	if x.me == root {
		if err := wantLength("src", len(src), len(dst)*x.n); err != nil {
			return x.end(err)
		}
	}
	if err := x.byMessages(0); err != nil {
		return x.end(err)
	}
	return x.end(x.scatter(root, view.Bytes(dst), view.Bytes(src)))
}

// scatter sends everything straight from the root.
func (x *call) scatter(root int, dst, src []byte) error {
	if x.me != root {
		return x.recv(root, dst)
	}
	for r := range x.n {
		part := src[r*len(dst) : (r+1)*len(dst)]
		if r == root {
			copy(dst, part)
		} else if err := x.send(r, part); err != nil {
			return err
		}
	}
	return nil
}
