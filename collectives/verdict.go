package collectives

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/ulfm"
)

// errApart reports that a peer is in another collective. The messages of that collective are
// unrelated to those of this call, so that members could wait for each other in a cycle; and the
// received message is consumed. The communicator is unusable.
var errApart = fmt.Errorf("%w", comm.ErrMismatch)

func at(rank int, err error) error { return &ulfm.Error{Ranks: []int{rank}, Err: err} }

// judge returns the error of a message of got bytes, where want bytes of this call were expected,
// or of a part of the call that has ended with err.
func (x *call) judge(from, tag, want, got int, err error) error {
	if d, ok := errors.AsType[*engine.Differs](err); ok {
		return x.differs(d)
	}
	h, later := parse(tag), (tag^x.Number())&(1<<seqBits-1) != 0
	switch {
	case later && tag&sched.Notice != 0:
		return at(from, fmt.Errorf("%w: %v here, a later collective at rank %d", errApart, x.head, from))
	case later:
		return at(from, fmt.Errorf("%w: %v here, later %v at rank %d", errApart, x.head, h, from))
	case tag&sched.Notice != 0:
		return x.told(from, parseNotice(tag))
	case h.kind != x.head.kind || h.kind.rooted() && h.what != x.head.what:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, h, from))
	case !h.sameCall(x.head):
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", comm.ErrMismatch, x.head, h, from))
	case errors.Is(err, engine.ErrType):
		return x.apart(from, want, unfit(err).Elem, unfit(err).Size)
	case errors.Is(err, engine.ErrTruncated):
		return x.apart(from, want, x.Elem, unfit(err).Size)
	case err != nil:
		return err
	case h != x.head:
		return at(from, &comm.DataError{Err: comm.ErrMismatch, Call: x.head.String(), Here: x.data(x.Elem, -1), There: x.data(x.Elem, -1), Rank: from})
	}
	return x.apart(from, want, x.Elem, got)
}

func unfit(err error) engine.Unfit {
	if u, ok := errors.AsType[*engine.Unfit](err); ok {
		return *u
	}
	return engine.Unfit{}
}

// apart reports that another member passes different data to the same call: bytes of elem, where
// this member has want bytes of its own type. By messages both counts are of one message, perhaps a
// part of a vector.
func (x *call) apart(rank, want int, elem uint8, bytes int) error {
	return at(rank, &comm.DataError{Err: comm.ErrMismatch, Call: x.head.String(), Here: x.data(x.Elem, want), There: x.data(elem, bytes), Rank: rank})
}

// data describes bytes of elements, as many as are not known if there are fewer than 0.
func (x *call) data(elem uint8, bytes int) comm.Data {
	name, size := byteview.CodeName(elem), byteview.ElemBytes(elem)
	switch {
	case elem == 0: // values and the like
		name, size = "bytes", 1
	case elem&locElem != 0 && elem < 2*locElem:
		name = "Loc of " + byteview.CodeName(elem&^locElem)
		if elem == x.Elem {
			size = x.unit
		}
	}
	if bytes < 0 || size == 0 {
		return comm.Data{Type: name, Count: -1}
	}
	return comm.Data{Type: name, Count: bytes / size}
}

// told makes an error of a notice.
func (x *call) told(from int, n notice) error {
	switch {
	case n.kind != x.head.kind:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, n.kind, from))
	case n.cause == mismatch:
		return at(from, fmt.Errorf("%w: rank %d noticed it in its %v", comm.ErrMismatch, from, n.kind))
	case n.cause == missing && x.n <= missingBit:
		return at(n.origin, fmt.Errorf("%w, as rank %d reports", engine.ErrEnded, from))
	case n.cause == missing:
		return at(from, fmt.Errorf("%w, as rank %d reports", engine.ErrEnded, from))
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
		return x.apart(d.Rank, x.bytes, uint8(d.What>>whatElemAt), int(d.What&(1<<bytesBits-1)))
	}
	return x.apart(d.Rank, x.bytes, x.Elem, int(d.What&(1<<bytesBits-1)))
}

// missing returns the member in Finalize that an error names, or -1.
func (x *call) missing(err error) int {
	if e, ok := errors.AsType[*ulfm.Error](err); ok && len(e.Ranks) > 0 && e.Ranks[0] != x.me {
		return e.Ranks[0]
	}
	return -1
}

// consequence returns the notification of the others about a failure here.
func (x *call) consequence(err error) (k engine.Consequence) {
	n := notice{kind: x.head.kind, origin: x.me}
	switch {
	case errors.Is(err, comm.ErrFinalized) && x.missing(err) >= 0: // this member's part is missing now, too
		n.cause, n.origin = missing, x.missing(err)
	case ulfm.Recoverable(err), errors.Is(err, comm.ErrFenced), errors.Is(err, comm.ErrFinalized), errors.Is(err, comm.ErrFreed):
		return k // every member learns of the failure by itself (R54), or no member is left
	case errors.Is(err, errApart):
		// The others would wait for ever for messages that this member does not send any more.
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
