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

// A pending is a send under way.
type pending struct {
	to int
	h  engine.Handle // zero: over
}

// send sends one message of the collective.
func (x *call) send(to int, buf []byte) error {
	s, err := x.start(to, buf)
	if err != nil {
		return err
	}
	return x.finish(s)
}

// start begins a send; finish or drop must follow.
func (x *call) start(to int, buf []byte) (pending, error) {
	h, err := x.e.Post(tagEnvelope(to, x.head, x.elem), buf)
	return pending{to: to, h: h}, err
}

// finish waits for a send. A receiver whose own call has failed never takes the
// message: then its notice ends the wait.
func (x *call) finish(s pending) error {
	if s.h == 0 {
		return nil
	}
	p := x.e.Proc()
	if _, done, err := p.Test(s.h); done || err != nil {
		return err
	}
	h := x.head
	h.note = true
	watch, err := x.e.Irecv(tagEnvelope(s.to, h, 0), x.note[:])
	if err != nil {
		p.Retract(s.h)
		return err
	}
	if err := p.WaitAny(x.ctx, engine.ManyOf([]engine.Handle{s.h, watch})); err != nil {
		p.Retract(s.h)
		_, _ = x.forget(watch)
		return err
	}
	switch told, err := x.forget(watch); {
	case err != nil:
		p.Retract(s.h)
		return err
	case told:
		p.Retract(s.h)
		return x.told(s.to, parseNotice(x.note[:]))
	}
	_, _, err = p.Test(s.h)
	return err
}

// forget withdraws a receive and says whether it has got something instead, or has
// failed.
func (x *call) forget(h engine.Handle) (got bool, err error) {
	p := x.e.Proc()
	if p.Cancel(h) {
		return false, nil
	}
	_, _, err = p.Test(h)
	return err == nil, err
}

// drop ends a send whose collective has failed.
func (x *call) drop(s pending) {
	if s.h != 0 {
		x.e.Proc().Retract(s.h)
	}
}

// recv receives one message of the collective that must fill buf.
func (x *call) recv(from int, buf []byte) error {
	land := buf
	if len(buf) < noticeBytes {
		land = x.small[:]
	}
	for {
		st, err := x.e.Recv(x.ctx, engine.Envelope{Rank: from, Tag: engine.Any, Class: engine.Collective, Elem: x.elem}, land)
		if err != nil && !errors.Is(err, engine.ErrTruncated) && !errors.Is(err, engine.ErrType) {
			return err
		}
		h := parse(st.Tag)
		if h.seq != x.head.seq && !newer(h.seq, x.head.seq) {
			continue // left over from a call that failed
		}
		if err := x.judge(from, h, land[:st.Bytes], len(buf), err); err != nil {
			return err
		}
		if len(buf) < noticeBytes {
			copy(buf, land)
		}
		return nil
	}
}

// judge says whether a message is the one that was expected.
func (x *call) judge(from int, h header, got []byte, want int, err error) error {
	switch {
	case h.seq != x.head.seq && h.note:
		return at(from, fmt.Errorf("%w: %v here, a later collective at rank %d", errApart, x.head, from))
	case h.seq != x.head.seq:
		return at(from, fmt.Errorf("%w: %v here, later %v at rank %d", errApart, x.head, h, from))
	case h.note:
		return x.told(from, parseNotice(got))
	case h.kind != x.head.kind || h.kind.rooted() && h.what != x.head.what:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, h, from))
	case h != x.head:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", comm.ErrMismatch, x.head, h, from))
	case errors.Is(err, engine.ErrType):
		return at(from, fmt.Errorf("%w: %v here and at rank %d, with other element types", comm.ErrMismatch, x.head, from))
	case err != nil:
		return at(from, fmt.Errorf("%w: %v of %d bytes here, of more at rank %d", comm.ErrMismatch, x.head, want, from))
	case len(got) != want:
		return at(from, fmt.Errorf("%w: %v of %d bytes here, of %d at rank %d", comm.ErrMismatch, x.head, want, len(got), from))
	}
	return nil
}

// told makes an error of a notice.
func (x *call) told(from int, n notice) error {
	switch {
	case n.kind != x.head.kind:
		return at(from, fmt.Errorf("%w: %v here, %v at rank %d", errApart, x.head, n.kind, from))
	case n.cause == wrongArgument && n.origin >= 0 && n.origin < x.n:
		return at(n.origin, fmt.Errorf("%w in its %v", comm.ErrPeerArgument, n.kind))
	}
	return at(from, fmt.Errorf("%w: rank %d noticed it in its %v", comm.ErrMismatch, from, n.kind))
}

func at(rank int, err error) error { return &ulfm.Error{Ranks: []int{rank}, Err: err} }
