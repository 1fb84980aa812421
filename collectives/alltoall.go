package collectives

import (
	"bytes"
	"context"
	"fmt"
	"unsafe"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/view"
)

// Alltoall cuts src into Size() equal parts and copies the i-th into rank i's
// dst, at the place of this rank. dst and src have one length, a multiple of
// Size(): else ErrLength here, or ErrMismatch where a message of another length
// arrives. dst and src may be the same slice. Errors: ErrLength, ErrMismatch,
// and those of all collectives. MPI 6.8.
func Alltoall[T comm.Elem](ctx context.Context, c *comm.Comm, dst, src []T) error {
	x, err := begin(ctx, c, alltoall, noRoot, elemOf[T]())
	if err != nil {
		return err
	}
	if err := wantLength("dst", len(dst), len(src)); err != nil {
		return x.end(err)
	}
	if len(src)%x.n != 0 {
		return x.end(fmt.Errorf("%w: src has %d elements, want a multiple of %d", comm.ErrLength, len(src), x.n))
	}
	if err := x.byMessages(0); err != nil {
		return x.end(err)
	}
	return x.end(x.alltoall(view.Bytes(dst), view.Bytes(src)))
}

// alltoall exchanges in n-1 steps: in step i with the ranks i to the right and
// to the left.
func (x *call) alltoall(dst, src []byte) error {
	if len(src) > 0 && unsafe.SliceData(dst) == unsafe.SliceData(src) {
		src = bytes.Clone(src) // a part may be overwritten before it is sent
	}
	size := len(src) / x.n
	part := func(b []byte, r int) []byte { return b[r*size : (r+1)*size] }
	copy(part(dst, x.me), part(src, x.me))
	for i := 1; i < x.n; i++ {
		to, from := (x.me+i)%x.n, (x.me-i+x.n)%x.n
		if err := x.exchange(to, part(src, to), from, part(dst, from)); err != nil {
			return err
		}
	}
	return nil
}

// exchange sends and receives at once.
func (x *call) exchange(to int, out []byte, from int, in []byte) error {
	s, err := x.start(to, out)
	if err != nil {
		return err
	}
	if err := x.recv(from, in); err != nil {
		x.drop(s)
		return err
	}
	return x.finish(s)
}
