package comm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

func TestZeroRequestIsInactive(t *testing.T) {
	ctx := context.Background()
	var r comm.Request
	st, err := r.Wait(ctx)
	if err != nil || st.Source != comm.None {
		t.Errorf("wait: %+v, %v", st, err)
	}
	if _, over, err := r.Test(); !over || err != nil {
		t.Errorf("test: %v, %v", over, err)
	}
	if r.Cancel() {
		t.Error("it was cancelled")
	}
	ok(t, "free", r.Free())
	ok(t, "wait all", comm.WaitAll(ctx, r, r))
	if i, _, err := comm.WaitAny(ctx, r, r); i != -1 || err != nil {
		t.Errorf("wait any: %d, %v", i, err)
	}
	if is, err := comm.WaitSome(ctx, nil, r); len(is) != 0 || err != nil {
		t.Errorf("wait some: %v, %v", is, err)
	}
	if all, err := comm.TestAll(); !all || err != nil {
		t.Errorf("test all of none: %v, %v", all, err)
	}
}

// TestHandleIsOverOnce: after its wait the handle gives ErrInactive, also when another request uses
// its slot by then, and in WaitAll; WaitAny and WaitSome ignore the handle.
func TestHandleIsOverOnce(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		old := comm.Isend(w.To(0), []int{1})
		ok(t, "wait", waitFor(ctx, old))
		in := []int{0}
		next := comm.Irecv(w.From(0), in)
		ok(t, "wait", waitFor(ctx, next))
		young := comm.Irecv(w.From(0), in) // reuses a slot
		for _, r := range []comm.Request{old, next} {
			want(t, "wait", waitFor(ctx, r), comm.ErrInactive)
			_, over, err := r.Test()
			want(t, "test", err, comm.ErrInactive)
			if over {
				t.Error("an inactive request is over again")
			}
			if r.Cancel() {
				t.Error("an inactive request was cancelled")
			}
			ok(t, "free", r.Free())
			want(t, "wait all", comm.WaitAll(ctx, r), comm.ErrInactive)
			if is, err := comm.WaitSome(ctx, nil, r, r); len(is) != 0 || err != nil {
				t.Errorf("wait some of inactive ones: %v, %v", is, err)
			}
			if i, _, err := comm.WaitAny(ctx, r, r); i != -1 || err != nil {
				t.Errorf("wait any of inactive ones: %d, %v", i, err)
			}
		}
		ok(t, "send", comm.Send(ctx, w.To(0), []int{5}))
		if i, st, err := comm.WaitAny(ctx, old, young); i != 1 || st.Count != 1 || err != nil || in[0] != 5 {
			t.Errorf("wait any: %d, %+v, %v", i, st, err)
		}
	})
}

// TestWaitThatIsCancelledKeepsTheRequest: it can be waited for again.
func TestWaitThatIsCancelledKeepsTheRequest(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		short, cancel := context.WithCancel(ctx)
		cancel()
		in := []int{0}
		r := comm.Irecv(w.From(0), in)
		want(t, "wait", waitFor(short, r), context.Canceled)
		want(t, "wait all", comm.WaitAll(short, r), context.Canceled)
		_, _, err := comm.WaitAny(short, r)
		want(t, "wait any", err, context.Canceled)
		_, err = comm.WaitSome(short, nil, r)
		want(t, "wait some", err, context.Canceled)
		ok(t, "send", comm.Send(ctx, w.To(0), []int{4}))
		ok(t, "wait again", waitFor(ctx, r))
		if in[0] != 4 {
			t.Errorf("received %d", in[0])
		}
	})
}

func TestCancelTakesAReceiveBack(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		first, second := []int{0}, []int{0}
		r, s := comm.Irecv(w.From(comm.Any), first), comm.Irecv(w.From(0), second)
		if !r.Cancel() || r.Cancel() {
			t.Error("a posted receive is cancelled once")
		}
		want(t, "wait", waitFor(ctx, r), comm.ErrInactive)
		ok(t, "send", comm.Send(ctx, w.To(0), []int{8}))
		if s.Cancel() {
			t.Error("a receive that has matched was cancelled")
		}
		ok(t, "wait", waitFor(ctx, s))
		if first[0] != 0 || second[0] != 8 {
			t.Errorf("got %d and %d", first[0], second[0])
		}
		send := comm.Issend(w.To(0).Tag(1), []int{1})
		if send.Cancel() {
			t.Error("a send was cancelled")
		}
		_, err := comm.Recv(ctx, w.From(0).Tag(1), first)
		ok(t, "recv", err)
		ok(t, "wait", waitFor(ctx, send))
	})
}

// TestFreedSendGoesOn with the content of its buffer at the call: the buffer is the caller's again.
func TestFreedSendGoesOn(t *testing.T) {
	for _, n := range []int{1, 100_000} {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			buf := make([]int, n)
			if w.Rank() == 1 {
				buf[n-1] = 6
				r := comm.Issend(w.To(0), buf)
				ok(t, "free", r.Free())
				buf[n-1] = 0
				want(t, "wait", waitFor(ctx, r), comm.ErrInactive)
				ok(t, "sign", comm.Send(ctx, w.To(0).Tag(1), []int{1}))
				return
			}
			_, err := comm.Recv(ctx, w.From(1).Tag(1), []int{0})
			ok(t, "sign", err)
			_, err = comm.Recv(ctx, w.From(1), buf)
			if err != nil || buf[n-1] != 6 {
				t.Errorf("%d, %v", buf[n-1], err)
			}
		})
	}
}

// TestWaitsOnSeveral: rank 1 answers requests in the order of their arrival.
func TestWaitsOnSeveral(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			for {
				var ask [1]int
				_, err := comm.Recv(ctx, w.From(0), ask[:])
				ok(t, "asked", err)
				if ask[0] < 0 {
					return
				}
				ok(t, "answer", comm.Send(ctx, w.To(0).Tag(ask[0]), ask[:]))
			}
		}
		ask := func(tags ...int) {
			for _, tag := range tags {
				ok(t, "ask", comm.Send(ctx, w.To(1), []int{tag}))
			}
		}
		bufs := make([][]int, 4)
		var rs []comm.Request
		for i := range bufs {
			bufs[i] = []int{-1}
			rs = append(rs, comm.Irecv(w.From(1).Tag(10+i), bufs[i]))
		}
		if i, _, over, err := comm.TestAny(rs...); over || i != -1 || err != nil {
			t.Errorf("test any before anything: %d, %v, %v", i, over, err)
		}
		if is, err := comm.TestSome(nil, rs...); len(is) != 0 || err != nil {
			t.Errorf("test some before anything: %v, %v", is, err)
		}
		if all, err := comm.TestAll(rs...); all || err != nil {
			t.Errorf("test all before anything: %v, %v", all, err)
		}
		ask(12)
		i, st, err := comm.WaitAny(ctx, rs...)
		if want := (comm.Status{Source: 1, Tag: 12, Count: 1, Bytes: 8}); i != 2 || st != want || err != nil {
			t.Errorf("wait any: %d, %+v, %v", i, st, err)
		}
		ask(10)
		is, err := comm.WaitSome(ctx, []int{77}, rs...)
		if !slices.Equal(is, []int{77, 0}) || err != nil {
			t.Errorf("wait some: %v, %v", is, err)
		}
		ask(13, 11)
		sts := make([]comm.Status, 4)
		err = comm.WaitAllStatus(ctx, sts, rs...)
		var multi *comm.MultiError // 0 and 2 are over already
		if !errors.As(err, &multi) || len(multi.Errs) != 4 || !errors.Is(multi.Errs[0], comm.ErrInactive) || multi.Errs[1] != nil ||
			!errors.Is(multi.Errs[2], comm.ErrInactive) || multi.Errs[3] != nil || len(multi.Unwrap()) != 2 {
			t.Errorf("wait all: %v", err)
		}
		if sts[1] != (comm.Status{Source: 1, Tag: 11, Count: 1, Bytes: 8}) || sts[3] != (comm.Status{Source: 1, Tag: 13, Count: 1, Bytes: 8}) {
			t.Errorf("statuses %+v", sts)
		}
		for i, b := range bufs {
			if b[0] != 10+i {
				t.Errorf("buffer %d holds %d", i, b[0])
			}
		}
		ask(-1)
	})
}

// TestErrorsOfOneRequestLeaveTheOthersAlone (R65).
func TestErrorsOfOneRequestLeaveTheOthersAlone(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		short, whole, none := make([]int, 1), make([]int, 2), comm.Request{}
		rs := []comm.Request{comm.Irecv(w.From(0).Tag(1), short), none, comm.Irecv(w.From(0).Tag(2), whole)}
		ok(t, "send", comm.Send(ctx, w.To(0).Tag(2), []int{3, 4}))
		ok(t, "send", comm.Send(ctx, w.To(0).Tag(1), []int{1, 2}))
		err := comm.WaitAll(ctx, rs...)
		want(t, "wait all", err, comm.ErrTruncated)
		var multi *comm.MultiError
		if !errors.As(err, &multi) || multi.Errs[1] != nil || multi.Errs[2] != nil {
			t.Errorf("wait all: %v", err)
		}
		if short[0] != 1 || !slices.Equal(whole, []int{3, 4}) {
			t.Errorf("received %v and %v", short, whole)
		}
	})
}

// TestWaitAllReturnsAtAnErrorAndKeepsTheRest (R52, C1): requests that are not over stay active and
// have no error.
func TestWaitAllReturnsAtAnErrorAndKeepsTheRest(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		in := []int{0}
		switch w.Rank() {
		case 2:
			commtest.Kill(w)
		case 1:
			_, err := comm.Recv(ctx, w.From(0), in)
			ok(t, "sign", err)
			ok(t, "send", comm.Send(ctx, w.To(0), []int{9}))
			return
		}
		rs := []comm.Request{comm.Irecv(w.From(1), in), comm.Irecv(w.From(2), []int{0})}
		err := comm.WaitAll(ctx, rs...)
		var multi *comm.MultiError
		if !errors.As(err, &multi) || multi.Errs[0] != nil || !errors.Is(multi.Errs[1], ulfm.ErrProcFailed) {
			t.Errorf("wait all: %v", err)
		}
		ok(t, "sign", comm.Send(ctx, w.To(1), in))
		ok(t, "the other request", waitFor(ctx, rs[0]))
		want(t, "the failed one", waitFor(ctx, rs[1]), comm.ErrInactive)
		if in[0] != 9 {
			t.Errorf("received %d", in[0])
		}
	})
}

// TestRequestsOfSeveralWorlds in one process are waited for together: a handle
// of one world means nothing in another.
func TestRequestsOfSeveralWorlds(t *testing.T) {
	var posted [2]chan *comm.Comm
	for i := range posted {
		posted[i] = make(chan *comm.Comm)
	}
	ended := make(chan struct{})
	world := func(me int) {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 0 {
				posted[me] <- w
				<-ended
				return
			}
			for range 4 {
				var tag [1]int
				_, err := comm.Recv(ctx, w.From(0), tag[:])
				ok(t, "asked", err)
				ok(t, "answer", comm.Send(ctx, w.To(0).Tag(tag[0]), []int{me}))
			}
		})
	}
	go world(0)
	stopped := make(chan struct{})
	go func() {
		world(1)
		close(stopped)
	}()
	defer func() { close(ended); <-stopped }()
	ctx := t.Context()
	ws := [2]*comm.Comm{<-posted[0], <-posted[1]}
	for round, wait := range []func(rs ...comm.Request) error{
		func(rs ...comm.Request) error { return comm.WaitAll(ctx, rs...) },
		func(rs ...comm.Request) error {
			for range rs {
				if _, _, err := comm.WaitAny(ctx, rs...); err != nil {
					return err
				}
			}
			return nil
		},
		func(rs ...comm.Request) error {
			for n := 0; n < len(rs); {
				is, err := comm.WaitSome(ctx, nil, rs...)
				if n += len(is); err != nil {
					return err
				}
			}
			return nil
		},
		func(rs ...comm.Request) error {
			for {
				if all, err := comm.TestAll(rs...); all || err != nil {
					return err
				}
			}
		},
	} {
		bufs := [2][1]int{{-1}, {-1}}
		var rs []comm.Request
		for i, w := range ws {
			rs = append(rs, comm.Irecv(w.From(1).Tag(5+round), bufs[i][:]))
		}
		for _, w := range ws {
			ok(t, "ask", comm.Send(ctx, w.To(1), []int{5 + round}))
		}
		ok(t, "wait", wait(rs...))
		if bufs[0][0] != 0 || bufs[1][0] != 1 {
			t.Errorf("round %d: received %v", round, bufs)
		}
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	a, b := comm.Irecv(ws[0].From(1), []int{0}), comm.Irecv(ws[1].From(1), []int{0})
	_, _, err := comm.WaitAny(short, a, b)
	want(t, "wait any", err, context.Canceled)
	if !a.Cancel() || !b.Cancel() {
		t.Error("the requests are not active any more")
	}
}

// TestRequestsThatDidNotStartAreOverOnce: one wait or test, of any copy, reports the error; then
// the requests are inactive, so that a loop that waits for any request until there is none ends.
func TestRequestsThatDidNotStartAreOverOnce(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		wrong := func() []comm.Request {
			return []comm.Request{comm.Isend(w.To(9), []int{1}), comm.Irecv(w.From(0).Tag(-9), []int{1}), w.Iagree(nil), comm.Issend(comm.Dest{}, []int{1})}
		}
		classes := []error{comm.ErrRank, comm.ErrTag, comm.ErrBuffer, comm.ErrArgument}
		for i, r := range wrong() {
			again := r
			want(t, "wait", waitFor(ctx, r), classes[i])
			want(t, "wait again", waitFor(ctx, again), comm.ErrInactive)
			_, over, err := again.Test()
			want(t, "test again", err, comm.ErrInactive)
			if over || again.Cancel() {
				t.Error("an inactive request is over or cancelled again")
			}
		}
		for i, r := range wrong() {
			_, over, err := r.Test()
			want(t, "test", err, classes[i])
			if !over {
				t.Error("a request that did not start is not over")
			}
			ok(t, "free", r.Free())
		}
		freed := wrong()[0]
		ok(t, "free", freed.Free())
		want(t, "wait for a freed one", waitFor(ctx, freed), comm.ErrInactive)

		in := []int{0}
		rs := append(wrong(), comm.Irecv(w.From(0), in), comm.Isend(w.To(0), []int{4}))
		seen := map[int]error{}
		for range 2 * len(rs) {
			i, _, err := comm.WaitAny(ctx, rs...)
			if i < 0 {
				ok(t, "wait any of none", err)
				break
			}
			if _, twice := seen[i]; twice {
				t.Errorf("request %d is over twice", i)
			}
			seen[i] = err
		}
		for i, class := range append(classes, nil, nil) {
			if err, found := seen[i]; !found || !errors.Is(err, class) {
				t.Errorf("request %d: %v, %v", i, found, err)
			}
		}
		if len(seen) != len(rs) || in[0] != 4 {
			t.Errorf("of %d requests %d were over; received %d", len(rs), len(seen), in[0])
		}

		rs = append(wrong(), comm.Irecv(w.From(0), in))
		is, err := comm.WaitSome(ctx, nil, rs...)
		if !slices.Equal(is, []int{0, 1, 2, 3}) || err == nil {
			t.Errorf("wait some: %v, %v", is, err)
		}
		if all, err := comm.TestAll(rs[4]); all || err != nil {
			t.Errorf("test all: %v, %v", all, err)
		}
		ok(t, "send", comm.Send(ctx, w.To(0), []int{5}))
		var several *comm.MultiError
		if err := comm.WaitAll(ctx, rs...); !errors.As(err, &several) || !errors.Is(several.Errs[0], comm.ErrInactive) || several.Errs[4] != nil || in[0] != 5 {
			t.Errorf("wait all: %v, received %d", err, in[0])
		}
	})
}
