package comm

import (
	"context"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/member"
)

// A ShrinkRequest is a Shrink under way, from Ishrink. One goroutine at a time waits
// for it; once its result was returned it is inactive.
type ShrinkRequest struct{ r started }

// Ishrink starts a Shrink. Starting it raises no error of failures, and c works on
// meanwhile as it did (R43). It is the same call as Shrink to the other members: some
// may make the one and some the other. Several may be under way; they match in the
// order of the calls. What it makes is a communicator of this member also if the
// program never waits for it.
func (c *Comm) Ishrink() *ShrinkRequest {
	return &ShrinkRequest{r: c.start(member.KindShrink, "ishrink")}
}

// Wait waits for the new communicator and ends the request. When ctx ends first the
// request stays active, and the error names the ranks that were waited for. On a
// request that is over it is ErrInactive.
func (s *ShrinkRequest) Wait(ctx context.Context) (*Comm, error) {
	if s == nil {
		s = &ShrinkRequest{}
	}
	_, made, err := s.r.wait(ctx)
	return s.r.shrunk(made), err
}

// Test ends the request if it is over, and says whether it was. An error means over.
func (s *ShrinkRequest) Test() (*Comm, bool, error) {
	if s == nil {
		s = &ShrinkRequest{}
	}
	_, made, over, err := s.r.test()
	return s.r.shrunk(made), over, err
}

// A FailedRequest is an AgreeFailed under way, from IagreeFailed. One goroutine at a
// time waits for it; once its result was returned it is inactive.
type FailedRequest struct{ r started }

// IagreeFailed starts an AgreeFailed; to the other members it is the same call.
func (c *Comm) IagreeFailed() *FailedRequest {
	return &FailedRequest{r: c.start(member.KindAgreeFailed, "iagree_failed")}
}

// Wait waits for the agreed group of failures and ends the request. When ctx ends
// first the request stays active, and the error names the ranks that were waited for.
// On a request that is over it is ErrInactive.
func (f *FailedRequest) Wait(ctx context.Context) (Group, error) {
	if f == nil {
		f = &FailedRequest{}
	}
	out, _, err := f.r.wait(ctx)
	return f.r.failed(out), err
}

// Test ends the request if it is over, and says whether it was. An error means over.
func (f *FailedRequest) Test() (Group, bool, error) {
	if f == nil {
		f = &FailedRequest{}
	}
	out, _, over, err := f.r.test()
	return f.r.failed(out), over, err
}

// started is a call that ends in an agreement and was started; the zero value is one
// that is over.
type started struct {
	c   *Comm
	h   engine.Handle // 0: it is over, or was not started
	op  string
	bad error // why it was not started
}

func (c *Comm) start(kind member.Kind, op string) started {
	h, err := c.e.Start(member.Call{Kind: kind}, engine.Contribution{}, op)
	return started{c: c, h: h, op: op, bad: err}
}

func (s *started) wait(ctx context.Context) (member.Outcome, *engine.Comm, error) {
	if ctx == nil {
		return member.Outcome{}, nil, fail("wait", s.c, nil, errNoContext)
	}
	if s.c != nil && s.bad == nil {
		p := s.c.w.proc
		if err := p.WaitSettled(ctx, []engine.Handle{s.h}); err != nil {
			return member.Outcome{}, nil, fail(s.op, s.c, p.Awaited(s.h), err)
		}
	}
	out, made, _, err := s.test()
	return out, made, err
}

func (s *started) test() (out member.Outcome, made *engine.Comm, over bool, err error) {
	switch {
	case s.h == 0 && s.bad == nil:
		return out, nil, false, fail("wait", s.c, nil, ErrInactive)
	case s.bad != nil:
		over, err = true, s.bad
	default:
		out, made, over, err = s.c.w.proc.TakeCall(s.h)
	}
	if over {
		s.h, s.bad = 0, nil
	}
	return out, made, over, fail(s.op, s.c, nil, err)
}

func (s *started) shrunk(made *engine.Comm) *Comm {
	if made == nil {
		return nil
	}
	return s.c.child(made, s.c.epoch+1)
}

func (s *started) failed(out member.Outcome) Group {
	if s.c == nil {
		return Group{}
	}
	return s.c.groupOf(out.Dead)
}
