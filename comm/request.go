package comm

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/internal/engine"
)

// A Request names an operation under way. It is a small value: copies name the
// same operation, and starting one allocates nothing. The zero value is inactive:
// waiting for it succeeds at once. A handle whose operation is over gives
// ErrInactive.
//
// A request whose error Is ulfm.ErrProcFailedPending is still active: it can be
// waited for again after AckFailed, or cancelled (R49).
type Request struct {
	c         *Comm
	h         engine.Handle
	op        string
	peer      int
	elemBytes int
	err       error // what was wrong with the call that started it
}

func (r Request) null() bool { return r.c == nil && r.err == nil }

func (r Request) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrInactive):
		return fail("wait", r.c, nil, err)
	case r.peer == Any:
		return failAny(r.op, r.c, err)
	}
	return fail(r.op, r.c, []int{r.peer}, err)
}

func (r Request) status(st engine.Status) Status {
	if r.op != "irecv" {
		return Status{Source: None, Tag: Any}
	}
	return r.c.status(st, r.elemBytes)
}

// Wait waits until the operation is over, and ends the request. When ctx ends
// first the request stays active.
func (r Request) Wait(ctx context.Context) (Status, error) {
	if r.null() || r.err != nil {
		return Status{Source: None, Tag: Any}, r.err
	}
	st, err := r.c.w.proc.Wait(ctx, r.h)
	return r.status(st), r.fail(err)
}

// Test ends the request if its operation is over, and says whether it was. An
// error means over, unless it Is ulfm.ErrProcFailedPending.
func (r Request) Test() (Status, bool, error) {
	if r.null() || r.err != nil {
		return Status{Source: None, Tag: Any}, true, r.err
	}
	st, done, err := r.c.w.proc.Test(r.h)
	return r.status(st), done, r.fail(err)
}

// Cancel withdraws a receive that has not matched and says whether it did; then
// the request is over. Sends cannot be cancelled.
func (r Request) Cancel() bool {
	return !r.null() && r.err == nil && r.c.w.proc.Cancel(r.h)
}

// Free gives the handle up: the operation goes on by itself.
func (r Request) Free() error {
	if !r.null() && r.err == nil {
		r.c.w.proc.Drop(r.h)
	}
	return nil
}

// sets splits requests by world and leaves those out that need no wait. Several
// worlds in one process are for tests: then each is waited for in turn.
func sets(rs []Request) (proc *engine.Proc, hs []engine.Handle, ready bool) {
	for _, r := range rs {
		if r.null() || r.err != nil {
			ready = ready || r.err != nil
			continue
		}
		proc = r.c.w.proc
		hs = append(hs, r.h)
	}
	return proc, hs, ready
}

// WaitAll waits for all requests and ends those that are over. With an error it
// is a *MultiError with one error or nil per request; requests that are not over
// yet have nil and stay active, as do those with ulfm.ErrProcFailedPending (C1,
// R52).
func WaitAll(ctx context.Context, rs ...Request) error {
	return WaitAllStatus(ctx, nil, rs...)
}

// WaitAllStatus is WaitAll that also fills sts: it must be nil or have one
// Status per request, else ErrLength.
func WaitAllStatus(ctx context.Context, sts []Status, rs ...Request) error {
	if sts != nil && len(sts) != len(rs) {
		return fail("wait_all", nil, nil, ErrLength)
	}
	proc, hs, failed := sets(rs)
	if proc != nil && !failed {
		if err := proc.WaitAll(ctx, hs); err != nil {
			return fail("wait_all", nil, nil, err)
		}
	}
	var errs []error
	for i, r := range rs {
		st, _, err := r.Test()
		if sts != nil {
			sts[i] = st
		}
		if err != nil {
			if errs == nil {
				errs = make([]error, len(rs))
			}
			errs[i] = err
		}
	}
	if errs != nil {
		return &MultiError{Errs: errs}
	}
	return nil
}

// WaitAny waits until one request is over, ends it, and returns its index; -1 if
// all are inactive. An error belongs to that request (R51).
func WaitAny(ctx context.Context, rs ...Request) (int, Status, error) {
	for {
		i, st, done, err := TestAny(rs...)
		if done {
			return i, st, err
		}
		proc, hs, _ := sets(rs)
		if err := proc.WaitAny(ctx, hs); err != nil {
			return -1, Status{}, fail("wait_any", nil, nil, err)
		}
	}
}

// WaitSome waits until a request is over and appends to done the indices of all
// that are, in ascending order. With an error it is a *MultiError with one error
// or nil per request.
func WaitSome(ctx context.Context, done []int, rs ...Request) ([]int, error) {
	proc, hs, failed := sets(rs)
	if proc != nil && !failed {
		if err := proc.WaitAny(ctx, hs); err != nil {
			return done, fail("wait_some", nil, nil, err)
		}
	}
	return TestSome(done, rs...)
}

// TestAll ends all requests if all are over, and says whether they were. A
// failed request counts as over; the error is as of WaitAll.
func TestAll(rs ...Request) (bool, error) {
	proc, hs, failed := sets(rs)
	if proc != nil && !failed && !proc.Settled(hs) {
		return false, nil
	}
	return true, WaitAll(context.Background(), rs...)
}

// TestAny ends one request that is over, if there is one, and returns its index.
// With only inactive requests it returns -1 and true.
func TestAny(rs ...Request) (int, Status, bool, error) {
	active := false
	for i, r := range rs {
		if r.null() || inactive(r) {
			continue
		}
		active = true
		st, done, err := r.Test()
		if done || err != nil {
			return i, st, true, err
		}
	}
	return -1, Status{}, !active, nil
}

func inactive(r Request) bool { return r.err == nil && !r.c.w.proc.Active(r.h) }

// TestSome appends to done the indices of the requests that are over, in
// ascending order, and ends them. With an error it is a *MultiError with one
// error or nil per request.
func TestSome(done []int, rs ...Request) ([]int, error) {
	var errs []error
	for i, r := range rs {
		if r.null() || inactive(r) {
			continue
		}
		_, over, err := r.Test()
		if !over && err == nil {
			continue
		}
		done = append(done, i)
		if err != nil {
			if errs == nil {
				errs = make([]error, len(rs))
			}
			errs[i] = err
		}
	}
	if errs != nil {
		return done, &MultiError{Errs: errs}
	}
	return done, nil
}
