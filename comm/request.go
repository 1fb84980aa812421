package comm

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/engine"
)

// A Request names an operation under way. A Request is a small value: copies name the same
// operation. Isend, Issend and Irecv of elements of at most 128 bytes allocate nothing in the
// steady state. The zero value is inactive: a wait for the zero value succeeds at once.
//
// A request is over when its operation is complete, with success or with an error. A wait or test
// that reports this also ends the request, which is inactive from then on. Once a request was
// ended, Wait, Test, WaitAll and TestAll return ErrInactive for the request, and WaitAny, WaitSome,
// TestAny and TestSome ignore the request.
//
// A request with an error that Is ErrProcFailedPending is still active: the program may wait again
// after AckFailed, or cancel the request (R49).
//
// A persistent request (SendInit, RecvInit) can be started again and again. Such a request is
// inactive before its first Start and after its end, or an error, has been reported. A wait for an
// inactive persistent request succeeds at once.
//
// One goroutine at a time waits for a request; others may wait for other ones.
type Request struct {
	// Four words: a larger struct is not kept in registers. Such a struct is copied in pieces of
	// another size than the stores, and the processor stalls on such loads.
	c    *Comm
	h    engine.Handle
	peer int
	call *call
}

// A call is the call that made a request. Requests that started share one for each operation and
// size of elements, except persistent requests and those of a Pending.
type call struct {
	op        string
	elemBytes int         // of a receive; else 0
	failed    *failed     // the request did not start and has no communicator
	again     *persistent // the request can be started again; h is not set
	pending   *started    // the request is that of a Pending, and has a communicator only if the call started
}

var (
	isendCall, issendCall, iagreeCall = &call{op: "isend"}, &call{op: "issend"}, &call{op: "iagree"}
	isendValueCall                    = &call{op: "isend_value"}
	noCall                            call
)

// irecvCallOf returns the call of an Irecv of elements with elemBytes bytes.
func irecvCallOf(elemBytes int) *call {
	if elemBytes < len(irecvCalls) {
		return &irecvCalls[elemBytes]
	}
	return &call{op: "irecv", elemBytes: elemBytes}
}

// irecvCalls are the calls of small elements, made in advance.
var irecvCalls = func() (calls [129]call) {
	for i := range calls {
		calls[i] = call{op: "irecv", elemBytes: i}
	}
	return calls
}()

// otherCalls are the calls of requestOf, by op.
var otherCalls sync.Map

func callOf(op string) *call {
	if known, ok := otherCalls.Load(op); ok {
		return known.(*call)
	}
	known, _ := otherCalls.LoadOrStore(op, &call{op: op})
	return known.(*call)
}

// made returns the call that made r; an empty one if r is the zero value.
func (r Request) made() *call {
	if r.call == nil {
		return &noCall
	}
	return r.call
}

// handle returns the handle of the operation that is, or was last, under way.
func (r Request) handle() engine.Handle {
	if r.call != nil && r.call.again != nil {
		return engine.Handle(r.call.again.handle.Load())
	}
	return r.h
}

// failed is the error of a call that should have started a request. Copies of the request share a
// failed, so that one wait reports the error and the request is inactive afterwards, like requests
// that have started.
type failed struct {
	err  error
	told atomic.Bool
}

func notStarted(err error) Request { return Request{call: &call{failed: &failed{err: err}}} }

// tell returns the error once.
func (f *failed) tell() (over bool, err error) {
	if f.told.Swap(true) {
		return false, fail("wait", nil, nil, ErrInactive)
	}
	return true, f.err
}

// none is the status of a call that received nothing.
func none() Status { return Status{Source: None, Tag: Any} }

func (r Request) null() bool { return r.c == nil && r.made().failed == nil && r.made().pending == nil }

// started reports whether the engine has, or had, the request, or can start it: a persistent
// request counts before its first Start.
func (r Request) started() bool { return r.c != nil }

func (r Request) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrInactive):
		return fail("wait", r.c, nil, err)
	case r.peer == Any:
		return failAny(r.made().op, r.c, err)
	}
	return fail(r.made().op, r.c, []int{r.peer}, err)
}

// failWait is fail for a wait that ctx has ended: the error names the ranks that the call waited
// for.
func (r Request) failWait(ctx context.Context, err error) error {
	if err != nil && r.peer == Any && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return fail(r.made().op, r.c, r.c.outerRanks(r.c.w.proc.Awaited(r.handle())), err)
	}
	return r.fail(err)
}

func (r Request) status(st engine.Status) Status {
	if r.call == nil || r.call.elemBytes == 0 {
		return none()
	}
	return r.c.status(st, r.call.elemBytes)
}

// Wait waits until the operation is over, and ends the request. When ctx ends first the request
// stays active, and so does a request with ErrProcFailedPending. The first wait or test returns the
// error of a call that failed to start the request.
func (r Request) Wait(ctx context.Context) (Status, error) {
	if ctx == nil {
		return none(), fail("wait", nil, nil, errNoContext)
	}
	if s := r.made().pending; s != nil {
		return none(), s.listen(ctx)
	}
	if !r.started() || r.atRest() {
		st, _, err := r.Test()
		return st, err
	}
	st, err := r.c.w.proc.Wait(ctx, r.handle())
	return r.status(st), r.failWait(ctx, err)
}

// Test ends the request if its operation is over, and reports whether that was so. With an error
// the operation is over, too, with two exceptions. ErrProcFailedPending: the request is still
// active. ErrInactive: an earlier wait or test has ended the request. The result is false then.
func (r Request) Test() (Status, bool, error) {
	switch {
	case r.null():
		return none(), true, nil
	case r.made().failed != nil:
		over, err := r.made().failed.tell()
		return none(), over, err
	case r.made().pending != nil:
		over, err := r.made().pending.hear()
		return none(), over, err
	case r.atRest():
		err := r.made().again.rest(r.c)
		return none(), err == nil, err
	}
	st, done, err := r.c.w.proc.Test(r.handle())
	return r.status(st), done, r.fail(err)
}

// Cancel withdraws a receive that has not matched and reports whether the receive was withdrawn;
// the request is then over. No other request can be cancelled.
func (r Request) Cancel() bool {
	return r.started() && r.c.w.proc.Cancel(r.handle())
}

// Free releases the handle: the operation still completes, and the buffer of a send may be used
// again. A persistent request cannot be started again. The result is always nil.
func (r Request) Free() error {
	switch {
	case r.made().failed != nil:
		r.made().failed.told.Store(true)
	case r.made().pending != nil:
		r.made().pending.drop()
	case r.made().again != nil:
		r.made().again.free(r.c)
	case r.started():
		r.c.w.proc.Drop(r.h)
	}
	return nil
}

// A waitSet is the sublist of a list of requests that belongs to one world.
type waitSet struct {
	proc *engine.Proc
	hs   []engine.Handle
}

// sets splits requests by world and leaves out those that need no wait. failed reports that a
// request did not start and no wait or test has reported that error yet: an error at once.
func sets(rs []Request) (by []waitSet, failed bool) {
	for _, r := range rs {
		if !r.started() || r.atRest() {
			failed = failed || !r.started() && !r.over()
			continue
		}
		i := slices.IndexFunc(by, func(s waitSet) bool { return s.proc == r.c.w.proc })
		if i < 0 {
			i = len(by)
			by = append(by, waitSet{proc: r.c.w.proc})
		}
		by[i].hs = append(by[i].hs, r.handle())
	}
	return by, failed
}

// oneWorld returns the process of all requests if they have the same process, all have started,
// none is of a Pending, and none is a persistent request at rest; their handles are appended to hs.
// Otherwise, and without requests, oneWorld returns nil.
func oneWorld(rs []Request, hs []engine.Handle) (*engine.Proc, []engine.Handle) {
	var c *Comm
	for i := range rs {
		r := &rs[i]
		if !r.started() || r.call.pending != nil || r.call.again != nil && r.atRest() || r.c != c && c != nil && r.c.w.proc != c.w.proc {
			return nil, nil
		}
		c = r.c
		hs = append(hs, r.handle())
	}
	if c == nil {
		return nil, nil
	}
	return c.w.proc, hs
}

// waitAny waits until a request of any world is settled, or ctx ends.
func waitAny(ctx context.Context, by []waitSet) error {
	if len(by) == 1 {
		return by[0].proc.WaitAny(ctx, by[0].hs)
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{}, len(by))
	for _, s := range by {
		go func() {
			_ = s.proc.WaitAny(inner, s.hs) // the end of ctx is checked below
			ended <- struct{}{}
		}()
	}
	for range by {
		<-ended
		cancel() // no goroutine uses the requests after the return
	}
	return ctx.Err()
}

// failWaits is the error of a wait for several requests that ctx has ended. If all have the same
// communicator, the error names that communicator and the ranks that active requests wait for.
func failWaits(op string, rs []Request, err error) error {
	var c *Comm
	var ranks []int
	for _, r := range rs {
		if !r.started() {
			continue
		}
		if c != nil && r.c != c {
			return fail(op, nil, nil, err)
		}
		c = r.c
		ranks = append(ranks, c.outerRanks(c.w.proc.Awaited(r.handle()))...)
	}
	slices.Sort(ranks)
	return fail(op, c, slices.Compact(ranks), err)
}

// WaitAll waits until all requests are over or one has an error, and ends those that are over. That
// error is a *MultiError with one error or nil per request; requests that are not over yet have nil
// and stay active, as do those with ErrProcFailedPending (C1, R52). If ctx ends first, the error is
// a *Error with that of ctx, and WaitAll ends no request.
func WaitAll(ctx context.Context, rs ...Request) error {
	return WaitAllStatus(ctx, nil, rs...)
}

// WaitAllStatus is WaitAll that also fills sts. sts must be nil or have one Status per request,
// else ErrLength. With an error the Status of a request that is not over has no meaning.
func WaitAllStatus(ctx context.Context, sts []Status, rs ...Request) error {
	if ctx == nil {
		return fail("wait_all", nil, nil, errNoContext)
	}
	if sts != nil && len(sts) != len(rs) {
		return fail("wait_all", nil, nil, ErrLength)
	}
	var errs []error
	var room [manyRequests]engine.Handle
	if proc, hs := oneWorld(rs, room[:0]); proc != nil {
		var got func(i int, st engine.Status)
		if sts != nil {
			got = func(i int, st engine.Status) { sts[i] = rs[i].status(st) }
		}
		var err error
		if errs, err = proc.WaitAll(ctx, hs, got); err != nil {
			return failWaits("wait_all", rs, err)
		}
		for i, err := range errs { // here, where a handler of errors may make calls
			errs[i] = rs[i].fail(err)
		}
	} else {
		var err error
		if errs, err = waitWorlds(ctx, rs, sts); err != nil {
			return err
		}
	}
	if errs != nil {
		return &MultiError{Errs: errs}
	}
	return nil
}

// manyRequests is the largest number of requests for which a wait allocates nothing.
const manyRequests = 64

// waitWorlds is WaitAllStatus for the requests that oneWorld refuses. waitWorlds waits for one
// world after the other: an error in one of them does not end the wait for another.
func waitWorlds(ctx context.Context, rs []Request, sts []Status) (errs []error, err error) {
	by, failed := sets(rs)
	for _, s := range by {
		if failed {
			break
		}
		if err := s.proc.WaitSettled(ctx, s.hs); err != nil {
			return nil, failWaits("wait_all", rs, err)
		}
	}
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
	return errs, nil
}

// WaitAny waits until one request is over, ends it, and returns its index; -1 if all are inactive.
// An error with an index belongs to that request (R51). A request with ErrProcFailedPending is
// returned, too, and stays active. If ctx ends first, the index is -1 and the error that of ctx.
func WaitAny(ctx context.Context, rs ...Request) (int, Status, error) {
	if ctx == nil {
		return -1, Status{}, fail("wait_any", nil, nil, errNoContext)
	}
	for {
		i, st, done, err := TestAny(rs...)
		if done {
			return i, st, err
		}
		by, _ := sets(slices.DeleteFunc(slices.Clone(rs), Request.over))
		if err := waitAny(ctx, by); err != nil {
			return -1, Status{}, failWaits("wait_any", rs, err)
		}
	}
}

// WaitSome waits until a request is over, ends all that are, and appends their indices to done, in
// ascending order; none if all requests are inactive. Requests with ErrProcFailedPending are among
// them, and stay active. An error is a *MultiError with one error or nil per request. If ctx ends
// first, the error is a *Error with that of ctx, and WaitSome ends no request.
func WaitSome(ctx context.Context, done []int, rs ...Request) ([]int, error) {
	if ctx == nil {
		return done, fail("wait_some", nil, nil, errNoContext)
	}
	by, failed := sets(slices.DeleteFunc(slices.Clone(rs), Request.over))
	if len(by) > 0 && !failed {
		if err := waitAny(ctx, by); err != nil {
			return done, failWaits("wait_some", rs, err)
		}
	}
	return TestSome(done, rs...)
}

// TestAll reports whether WaitAll would return at once: all requests are over, or one has an error.
// If so, TestAll ends those that are over, and its error is that of WaitAll. Otherwise TestAll ends
// no request.
func TestAll(rs ...Request) (bool, error) {
	by, failed := sets(rs)
	for _, s := range by {
		if !failed && !s.proc.Settled(s.hs) {
			return false, nil
		}
	}
	return true, WaitAll(context.Background(), rs...)
}

// TestAny ends one request that is over, and returns its index and true. If none is over, the index
// is -1, and the result is true only if all requests are inactive. A request with
// ErrProcFailedPending is returned, too, and stays active.
func TestAny(rs ...Request) (int, Status, bool, error) {
	active := false
	for i, r := range rs {
		if r.over() {
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

// over reports whether r can produce no further result, for a persistent request before its next
// Start.
func (r Request) over() bool {
	if r.made().failed != nil {
		return r.made().failed.told.Load()
	}
	if s := r.made().pending; s != nil {
		return s.over()
	}
	return !r.started() || !r.c.w.proc.Active(r.handle())
}

// TestSome ends the requests that are over and appends their indices to done, in ascending order.
// Requests with ErrProcFailedPending are among them, and stay active. An error is a *MultiError
// with one error or nil per request.
func TestSome(done []int, rs ...Request) ([]int, error) {
	var errs []error
	for i, r := range rs {
		if r.over() {
			continue
		}
		_, ended, err := r.Test()
		if !ended && err == nil {
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
