package collectives

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/ulfm"
)

// A call is one collective at one member.
type call struct {
	ctx  context.Context
	c    *comm.Comm
	e    *engine.Comm
	me   int
	n    int
	elem uint8 // element code; receives of another one are refused
	head header
	// noted: this call has been published in shared memory.
	noted, messages bool // and goes by messages
	bytes           int  // as published

	small   [16]byte // short messages land here: a notice must fit
	note    [noticeBytes]byte
	scratch any // []T of the last call, kept for the next if it is small
}

// calls are reused: what an engine request points to lives on the heap.
var calls = sync.Pool{New: func() any { return new(call) }}

// elemOf is the element code that package comm uses, too.
func elemOf[T any]() uint8 { return uint8(reflect.TypeFor[T]().Kind()) }

// noRoot is the root of collectives that have none.
const noRoot = -1

// begin starts a collective. Every error that it finds counts as a call: the
// others are told, so that who waits for this member does not wait for ever.
func begin(ctx context.Context, c *comm.Comm, k kind, root int, elem uint8) (*call, error) {
	if c == nil {
		return nil, &ulfm.Error{Op: k.String(), Err: fmt.Errorf("%w: no communicator", comm.ErrRank)}
	}
	x := newCall(ctx, c, k, elem)
	x.head.what = max(root, 0) & (1<<whatBits - 1)
	if err := x.e.Enter(ulfm.OpCollective); err != nil { // R55
		return nil, x.fail(err)
	}
	x.head.seq = x.e.NextCollective() & (1<<seqBits - 1)
	if k.rooted() && (root < 0 || root >= x.n) {
		return nil, x.fail(fmt.Errorf("%w: %d in a communicator of %d", comm.ErrRoot, root, x.n))
	}
	if err := ctx.Err(); err != nil {
		return nil, x.fail(err)
	}
	return x, nil
}

func newCall(ctx context.Context, c *comm.Comm, k kind, elem uint8) *call {
	x := calls.Get().(*call)
	x.ctx, x.c, x.e, x.elem = ctx, c, c.Engine(), elem
	x.me, x.n, x.noted, x.messages = x.e.Rank(), x.e.Size(), false, false
	x.head = header{kind: k}
	return x
}

// shared says whether a collective of c goes through shared memory: with arguments
// that are right.
func shared(c *comm.Comm, k kind, root int) bool {
	return c != nil && c.Engine().Shared() && (!k.rooted() || root >= 0 && root < c.Engine().Size())
}

// end ends a call, with success or not.
func (x *call) end(err error) error {
	if x.messages {
		x.e.EndMessages()
	}
	if err != nil {
		return x.fail(err)
	}
	x.ctx, x.c, x.e = nil, nil, nil
	calls.Put(x)
	return nil
}

// fail does for the others what an error here demands, and says where it was.
func (x *call) fail(err error) error {
	if d, ok := errors.AsType[*engine.Differs](err); ok {
		err = x.differs(d)
	}
	var at *ulfm.Error
	var ranks []int
	if errors.As(err, &at) {
		ranks, err = at.Ranks, at.Err
	}
	switch {
	case errors.Is(err, ulfm.ErrProcFailed):
		// Everybody hears of the death by itself (R54).
		ranks = x.e.GetFailed()
	case errors.Is(err, ulfm.ErrRevoked), errors.Is(err, comm.ErrFenced), errors.Is(err, comm.ErrFinalized), errors.Is(err, comm.ErrFreed):
	case errors.Is(err, errApart), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), x.ctx.Err() != nil:
		// The others would wait for ever for what this member does not do any more.
		_ = x.e.Revoke()
	case errors.Is(err, comm.ErrMismatch):
		x.tellAll(notice{cause: mismatch, kind: x.head.kind, origin: x.me})
	case errors.Is(err, comm.ErrPeerArgument):
		x.tellAll(notice{cause: wrongArgument, kind: x.head.kind, origin: ranks[0]})
	default:
		x.noteWrong()
		x.tellAll(notice{cause: wrongArgument, kind: x.head.kind, origin: x.me})
	}
	return x.c.Raise(&ulfm.Error{Op: x.head.kind.String(), Comm: x.e.Name(), Ranks: ranks, Err: err})
}

// tellAll sends a notice to every other member. It waits for nobody.
func (x *call) tellAll(n notice) {
	buf := n.append(nil)
	h := x.head
	h.note = true
	for r := range x.n {
		if r == x.me {
			continue
		}
		if s, err := x.e.Post(tagEnvelope(r, h, 0), buf); err == nil && s != 0 {
			x.e.Proc().Drop(s)
		}
	}
}

// wantLength returns ErrLength unless a slice has the length that it must have.
func wantLength(what string, got, want int) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%w: %s has %d elements, want %d", comm.ErrLength, what, got, want)
}
