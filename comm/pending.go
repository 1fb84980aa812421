package comm

import (
	"context"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// A Pending is a call under way with a result of type T, as Ishrink and IagreeFailed return. Wait
// or Test returns the result once; then the Pending is inactive. One goroutine at a time waits for
// a Pending. A nil *Pending, and one without a call, are inactive.
type Pending[T any] struct {
	call   *started // nil: none
	result func(*started) T
}

// pending makes a Pending of a started call and of the function that returns its result to the
// program.
func pending[T any](s *started, result func(*started) T) *Pending[T] {
	return &Pending[T]{call: s, result: result}
}

// Wait waits for the result and ends the call. When ctx ends first, the call continues, Wait may be
// called again, and the error names the ranks that the call waits for. After the result has been
// returned, the error is ErrInactive.
func (p *Pending[T]) Wait(ctx context.Context) (T, error) {
	var none T
	if err := p.started().await(ctx); err != nil {
		return none, err
	}
	got, _, err := p.Test()
	return got, err
}

// Test ends the call if the call is over, and reports whether that was so. With an error the call
// is over; the result is false with ErrInactive alone.
func (p *Pending[T]) Test() (result T, over bool, err error) {
	s := p.started()
	if over, err = s.settle(); !over {
		return result, false, err
	}
	if err == nil {
		result = p.result(s)
	}
	s.phase = inactive
	return result, true, err
}

// Request returns the call as a Request, for WaitAny and similar calls with other requests. The
// request is over when the call is, with its error; afterwards a Wait or a Test of the Pending
// returns the result at once. Freeing the request discards the result: a communicator that the call
// makes is freed.
func (p *Pending[T]) Request() Request {
	s := p.started()
	if s.c == nil {
		return Request{}
	}
	r := Request{peer: Any, call: &call{op: s.op, pending: s}}
	if s.h != 0 {
		r.c, r.h = s.c, s.h
	}
	return r
}

// started returns the call of p, or a call that is over if p has none.
func (p *Pending[T]) started() *started {
	if p == nil || p.call == nil {
		return &started{}
	}
	return p.call
}

// callPhase is the phase of a started call.
type callPhase uint8

const (
	inactive callPhase = iota // the result was returned or discarded
	underWay                  // the end is not known here
	settled                   // the call is over; out, made and err are set
)

// started is a call that was started and that ends in an agreement; the zero value is a call that
// is over. The Pending and its requests share a started.
type started struct {
	c     *Comm
	h     engine.Handle // 0: the call was not started
	op    string
	phase callPhase
	heard bool // settled: a request has reported the end, but not the result
	told  bool // settled: err has been through the handler of errors
	out   commstate.Outcome
	made  *engine.Comm
	err   error
}

func (c *Comm) start(kind commstate.Kind, op string) *started {
	h, err := c.e.Start(commstate.Call{Kind: kind}, engine.Contribution{}, op)
	if err != nil {
		return &started{c: c, op: op, phase: settled, err: err}
	}
	return &started{c: c, h: h, op: op, phase: underWay}
}

// await returns nil when the call is over, with success or not, and the error of ctx if ctx ends
// first.
func (s *started) await(ctx context.Context) error {
	if ctx == nil {
		return fail("wait", s.c, nil, errNoContext)
	}
	if s.phase != underWay {
		return nil
	}
	p := s.c.w.proc
	if err := p.WaitSettled(ctx, []engine.Handle{s.h}); err != nil {
		return fail(s.op, s.c, p.Awaited(s.h), err)
	}
	return nil
}

// take fetches the result if the call is over.
func (s *started) take() {
	if s.phase != underWay {
		return
	}
	out, made, over, err := s.c.w.proc.TakeCall(s.h)
	switch {
	case over:
		s.phase, s.out, s.made, s.err = settled, out, made, err
	case err != nil: // the engine has dropped the call
		s.phase = inactive
	}
}

// settle takes the result if the call is over, and returns whether that is so, and the error. An
// inactive call is not over: the error is ErrInactive.
func (s *started) settle() (over bool, err error) {
	switch s.take(); s.phase {
	case inactive:
		return false, fail("wait", s.c, nil, ErrInactive)
	case underWay:
		return false, nil
	}
	if !s.told {
		s.told = true
		s.err = fail(s.op, s.c, nil, s.err)
	}
	return true, s.err
}

// hear is settle for a request, which reports the end once.
func (s *started) hear() (over bool, err error) {
	if s.heard {
		return false, fail("wait", s.c, nil, ErrInactive)
	}
	over, err = s.settle()
	s.heard = over
	return over, err
}

// listen waits for the end that hear reports.
func (s *started) listen(ctx context.Context) error {
	if err := s.await(ctx); err != nil {
		return err
	}
	_, err := s.hear()
	return err
}

// over reports whether a request of the call has nothing more to report.
func (s *started) over() bool { return s.heard || s.phase == inactive }

// drop discards the result.
func (s *started) drop() {
	s.take()
	switch {
	case s.phase == underWay:
		s.c.w.proc.Drop(s.h)
	case s.phase == settled && s.made != nil:
		_ = s.made.Free() // no other user of made exists at this process
	}
	s.phase = inactive
}
