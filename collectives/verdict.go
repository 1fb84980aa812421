package collectives

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/ulfm"
)

// errApart says that a peer is in another collective. What is sent and awaited
// there has nothing to do with what is awaited here, so that members could wait
// for each other in a circle; and what came is consumed. The communicator is of
// no use any more.
var errApart = fmt.Errorf("%w", comm.ErrMismatch)

func at(rank int, err error) error { return &ulfm.Error{Ranks: []int{rank}, Err: err} }

// judge says what is wrong with a message of got bytes, where want bytes of this call
// were expected, or with a part of the call that has ended with err.
func (x *call) judge(from, tag, want, got int, err error) error {
	if d, ok := errors.AsType[*engine.Differs](err); ok {
		return x.differs(d)
	}
	h, later := parse(tag), (tag^x.Number())&(1<<seqBits-1) != 0
	switch {
	case later && tag&engine.Notice != 0:
		return at(from, fmt.Errorf("%w: %v here, a later collective at rank %d", errApart, x.head, from))
	case later:
		return at(from, fmt.Errorf("%w: %v here, later %v at rank %d", errApart, x.head, h, from))
	case tag&engine.Notice != 0:
		return x.told(from, parseNotice(tag))
	case h.kind != x.head.kind || h.kind.rooted() && h.what != x.head.what:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, h, from))
	case !h.sameCall(x.head):
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", comm.ErrMismatch, x.head, h, from))
	case errors.Is(err, engine.ErrType):
		return at(from, fmt.Errorf("%w: %v here and at rank %d, with other element types", comm.ErrMismatch, x.head, from))
	case errors.Is(err, engine.ErrTruncated):
		return at(from, fmt.Errorf("%w: %v of %d bytes here, of more at rank %d", comm.ErrMismatch, x.head, want, from))
	case err != nil:
		return err
	case h != x.head:
		return at(from, fmt.Errorf("%w: %v here and at rank %d, of other lengths", comm.ErrMismatch, x.head, from))
	}
	return at(from, fmt.Errorf("%w: %v of %d bytes here, of %d at rank %d", comm.ErrMismatch, x.head, want, got, from))
}

// told makes an error of a notice.
func (x *call) told(from int, n notice) error {
	switch {
	case n.kind != x.head.kind:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, n.kind, from))
	case n.cause == mismatch:
		return at(from, fmt.Errorf("%w: rank %d noticed it in its %v", comm.ErrMismatch, from, n.kind))
	case n.origin < x.n:
		return at(n.origin, fmt.Errorf("%w in its %v", comm.ErrPeerArgument, n.kind))
	}
	return at(from, fmt.Errorf("%w in its %v", comm.ErrPeerArgument, n.kind))
}

// differs makes an error of another member's call, which shared memory has shown.
func (x *call) differs(d *engine.Differs) error {
	theirs := header{kind: kind(d.What &^ whatWrongBit >> whatKindAt), what: int(d.What >> whatRootAt & (1<<whatBits - 1))}
	switch {
	case theirs.kind != x.head.kind, d.What&whatWrongBit == 0 && theirs.kind.rooted() && theirs.what != x.head.what:
		return at(d.Rank, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, theirs, d.Rank))
	case d.What&whatWrongBit != 0:
		return at(d.Rank, fmt.Errorf("%w in its %v", comm.ErrPeerArgument, theirs.kind))
	case !theirs.sameCall(x.head):
		return at(d.Rank, fmt.Errorf("%w: %v here, %v at rank %d", comm.ErrMismatch, x.head, theirs, d.Rank))
	case uint8(d.What>>whatElemAt) != x.Elem:
		return at(d.Rank, fmt.Errorf("%w: %v here and at rank %d, with other element types", comm.ErrMismatch, x.head, d.Rank))
	}
	return at(d.Rank, fmt.Errorf("%w: %v of %d bytes here, of %d at rank %d", comm.ErrMismatch, x.head, x.bytes, d.What&(1<<bytesBits-1), d.Rank))
}

// consequence says what the others must hear of a failure here.
func (x *call) consequence(err error) (k engine.Consequence) {
	n := notice{kind: x.head.kind, origin: x.me}
	switch {
	case ulfm.Recoverable(err), errors.Is(err, comm.ErrFenced), errors.Is(err, comm.ErrFinalized), errors.Is(err, comm.ErrFreed):
		return k // everybody hears of it by itself (R54), or there is nobody to hear
	case errors.Is(err, errApart):
		// They would wait for ever for what this member does not do any more.
		return engine.Consequence{Revoke: true}
	case errors.Is(err, comm.ErrMismatch):
		n.cause = mismatch
	case errors.Is(err, comm.ErrPeerArgument):
		if e, ok := errors.AsType[*ulfm.Error](err); ok && len(e.Ranks) > 0 {
			n.origin = e.Ranks[0]
		}
	}
	return engine.Consequence{Tag: n.tag()}
}
