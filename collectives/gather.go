package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/view"
)

// Gather copies src of every member, in rank order, into dst of the root. All
// src have one length, and dst at the root has that times Size(): else ErrLength
// there, or ErrMismatch where a message of another length arrives. Elsewhere dst
// is not used and may be nil. The root's src may be its place in dst. Errors:
// ErrRoot, ErrLength, ErrMismatch, and those of all collectives. MPI 6.5.
func Gather[T comm.Elem](ctx context.Context, c *comm.Comm, root int, dst, src []T) error {
	x, err := begin(ctx, c, gather, root, elemOf[T]())
	if err != nil {
		return err
	}
	if x.me == root {
		if err := wantLength("dst", len(dst), len(src)*x.n); err != nil {
			return x.end(err)
		}
	}
	if err := x.byMessages(0); err != nil {
		return x.end(err)
	}
	return x.end(x.gather(root, view.Bytes(dst), view.Bytes(src)))
}

// gather sends everything straight to the root.
func (x *call) gather(root int, dst, src []byte) error {
	if x.me != root {
		return x.send(root, src)
	}
	for r := range x.n {
		place := dst[r*len(src) : (r+1)*len(src)]
		if r == root {
			copy(place, src)
		} else if err := x.recv(r, place); err != nil {
			return err
		}
	}
	return nil
}
