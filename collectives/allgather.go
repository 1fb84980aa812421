package collectives

import (
	"context"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/view"
)

// Allgather copies src of every member, in rank order, into dst of every member.
// All src have one length, and dst has that times Size(): else ErrLength there,
// or ErrMismatch where a message of another length arrives. src may be this
// member's place in dst. Errors: ErrLength, ErrMismatch, and those of all
// collectives. MPI 6.7.
func Allgather[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T) error {
	x, err := begin(ctx, c, allgather, noRoot, elemOf[T]())
	if err != nil {
		return err
	}
	if err := wantLength("dst", len(dst), len(src)*x.n); err != nil {
		return x.end(err)
	}
	if err := x.byMessages(0); err != nil {
		return x.end(err)
	}
	return x.end(x.allgather(view.Bytes(dst), view.Bytes(src)))
}

// allgather collects at rank 0, which sees every length, and spreads the whole:
// 2(n-1) messages instead of a ring's n(n-1).
func (x *call) allgather(dst, src []byte) error {
	if err := x.gather(0, dst, src); err != nil {
		return err
	}
	return x.bcast(0, dst)
}
