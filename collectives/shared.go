package collectives

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/kernel"
	"github.com/goulfm/goulfm/internal/nodecoll"
)

// What a member publishes of its call in shared memory: the bytes in the lower 40
// bits, then the element's code, the root or operation, and the kind; the highest
// bit says that its arguments are wrong.
const (
	bytesBits    = 40
	whatElemAt   = bytesBits
	whatRootAt   = whatElemAt + 8
	whatKindAt   = whatRootAt + whatBits
	whatWrongBit = 1 << 63
)

func (h header) code(elem uint8, bytes int) uint64 {
	return uint64(bytes)&(1<<bytesBits-1) | uint64(elem)<<whatElemAt | uint64(h.what&(1<<whatBits-1))<<whatRootAt | uint64(h.kind)<<whatKindAt
}

// inMemory makes a collective in shared memory, without what only messages and errors
// need: where ranks outnumber cores each finds its caches cold.
func inMemory(ctx context.Context, c *comm.Comm, h header, elem uint8, bytes int, start func(g *nodecoll.Group, what uint64)) error {
	err := c.Engine().RunShared(ctx, h.kind.String(), func(g *nodecoll.Group) { start(g, h.code(elem, bytes)) })
	if err == nil {
		return nil
	}
	x := newCall(ctx, c, h.kind, elem)
	x.head.what, x.head.seq, x.noted, x.bytes = h.what, x.e.LastCollective()&(1<<seqBits-1), true, bytes
	return x.fail(err)
}

// byMessages says, where others could be in a collective in shared memory, that this
// member has come to one that goes by messages. Bytes count only where the same call
// can go either way.
func (x *call) byMessages(bytes int) error {
	if x.noted || !x.e.Shared() {
		return nil
	}
	x.noted, x.messages, x.bytes = true, true, bytes
	return x.e.BeginMessages(x.ctx, x.head.kind.String(), x.head.code(x.elem, bytes))
}

// noteWrong says that this member's arguments are wrong.
func (x *call) noteWrong() {
	if x.noted || x.e == nil || !x.e.Shared() {
		return
	}
	x.noted = true
	_ = x.e.NoteShared(x.ctx, x.head.kind.String(), x.head.code(x.elem, 0)|whatWrongBit, true) // this call has failed already
}

// differs makes an error of another member's call.
func (x *call) differs(d *engine.Differs) error {
	theirs := header{kind: kind(d.What &^ whatWrongBit >> whatKindAt), what: int(d.What >> whatRootAt & (1<<whatBits - 1))}
	switch {
	case theirs.kind != x.head.kind, d.What&whatWrongBit == 0 && theirs.kind.rooted() && theirs.what != x.head.what:
		return at(d.Rank, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, theirs, d.Rank))
	case d.What&whatWrongBit != 0:
		return at(d.Rank, fmt.Errorf("%w in its %v", comm.ErrPeerArgument, theirs.kind))
	case theirs.what != x.head.what:
		return at(d.Rank, fmt.Errorf("%w: %v here, %v at rank %d", comm.ErrMismatch, x.head, theirs, d.Rank))
	case uint8(d.What>>whatElemAt) != x.elem:
		return at(d.Rank, fmt.Errorf("%w: %v here and at rank %d, with other element types", comm.ErrMismatch, x.head, d.Rank))
	}
	return at(d.Rank, fmt.Errorf("%w: %v of %d bytes here, of %d at rank %d", comm.ErrMismatch, x.head, x.bytes, d.What&(1<<bytesBits-1), d.Rank))
}

// reduction returns a kernel for shared memory and the operation's code; false for a
// program's own operation, which is combined by the caller itself, and for none.
func reduction[T comm.Elem](op Op[T]) (r nodecoll.Reduce, code int, ok bool) {
	if op == nil {
		return r, 0, false
	}
	k, e := op(), kernelElem[T]()
	f := kernel.Find(kernel.Op(k.code), e)
	return nodecoll.Reduce{Func: f, ElemBytes: e.Bytes()}, int(k.code), k.code != opCustom && f != nil
}
