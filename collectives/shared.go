package collectives

import (
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

func (x *call) whatOf(bytes int) uint64 {
	x.bytes = bytes
	return uint64(bytes)&(1<<bytesBits-1) | uint64(x.elem)<<whatElemAt | uint64(x.head.what&(1<<whatBits-1))<<whatRootAt | uint64(x.head.kind)<<whatKindAt
}

// shared makes a collective in shared memory.
func (x *call) shared(start func(g *nodecoll.Group)) error {
	x.noted = true
	return x.e.RunShared(x.ctx, x.head.kind.String(), start)
}

// byMessages says, where others could be in a collective in shared memory, that this
// member has come to one that goes by messages. Bytes count only where the same call
// can go either way.
func (x *call) byMessages(bytes int) error {
	if x.noted || !x.e.Shared() {
		return nil
	}
	x.noted, x.messages = true, true
	return x.e.BeginMessages(x.ctx, x.head.kind.String(), x.whatOf(bytes))
}

// noteWrong says that this member's arguments are wrong.
func (x *call) noteWrong() {
	if x.noted || x.e == nil || !x.e.Shared() {
		return
	}
	what := x.whatOf(0) | whatWrongBit
	_ = x.shared(func(g *nodecoll.Group) { g.Note(what, true) }) // this call has failed already
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

// reduction returns a kernel for shared memory; false for a program's own operation,
// which is combined by the caller itself.
func (k Kernel[T]) reduction() (nodecoll.Reduce, bool) {
	f := kernel.Find(kernel.Op(k.code), kernelElem[T]())
	return nodecoll.Reduce{Func: f, ElemBytes: kernelElem[T]().Bytes()}, k.code != opCustom && f != nil
}
