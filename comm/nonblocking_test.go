package comm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestSpecR43NonBlockingShrink: posted on a revoked communicator with dead members, Ishrink raises
// nothing; messages on other communicators continue; other members make the blocking call, and all
// are in the same communicator.
func TestSpecR43NonBlockingShrink(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		killAndWatch(ctx, t, w, 2)
		_ = d.Revoke()
		var s *comm.Comm
		if w.Rank()%2 == 0 {
			r := d.Ishrink()
			if other := 4 - w.Rank(); w.Rank() != other {
				_, err = comm.SendRecv(ctx, w.To(other), []int{1}, w.From(other), []int{0})
				ok(t, "meanwhile", err)
			}
			s, err = r.Wait(ctx)
			_, again := r.Wait(ctx)
			want(t, "again", again, comm.ErrInactive)
			_, over, again := r.Test()
			want(t, "again", again, comm.ErrInactive)
			if over {
				t.Error("an inactive request is over")
			}
		} else {
			s, err = d.Shrink(ctx)
		}
		if err != nil || !slices.Equal(s.Group().Processes(), []int{0, 1, 3, 4}) || s.Epoch() != w.Epoch()+1 {
			t.Errorf("rank %d: %v, %v", w.Rank(), s, err)
			return
		}
		works(ctx, t, s)
	})
}

// TestIshrinksMatchInOrder: several at once, tested until they are over.
func TestIshrinksMatchInOrder(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		first, second := w.Ishrink(), w.Ishrink()
		failed := w.IagreeFailed()
		b := testUntilOver(ctx, t, second.Test)
		a := testUntilOver(ctx, t, first.Test)
		if a == nil || b == nil {
			return
		}
		if g := testUntilOver(ctx, t, failed.Test); g.Size() != 0 {
			t.Errorf("failed: %v", g)
		}
		works(ctx, t, a)
		works(ctx, t, b)
		next, prev := (w.Rank()+1)%3, (w.Rank()+2)%3
		in := []int{0}
		ok(t, "send", comm.Send(ctx, a.To(next), []int{1}))
		ok(t, "send", comm.Send(ctx, b.To(next), []int{2}))
		if _, err := comm.Recv(ctx, b.From(prev), in); err != nil || in[0] != 2 {
			t.Errorf("the second hears %d, %v", in[0], err)
		}
		if _, err := comm.Recv(ctx, a.From(prev), in); err != nil || in[0] != 1 {
			t.Errorf("the first hears %d, %v", in[0], err)
		}
	})
}

func testUntilOver[T any](ctx context.Context, t *testing.T, test func() (T, bool, error)) (got T) {
	until(ctx, t, "the end of a request", func() bool {
		x, over, err := test()
		ok(t, "test", err)
		got = x
		return over
	})
	return got
}

// TestIagreeFailedIsAgreeFailed: rank 0 calls IagreeFailed and the others AgreeFailed; all get the
// same group.
func TestIagreeFailedIsAgreeFailed(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		var g comm.Group
		var err error
		if w.Rank() == 0 {
			g, err = w.IagreeFailed().Wait(ctx)
		} else {
			g, err = w.AgreeFailed(ctx)
		}
		if err != nil || !slices.Equal(g.Processes(), []int{1}) {
			t.Errorf("rank %d: %v, %v", w.Rank(), g, err)
		}
	})
}

// TestSpecContextPending: a wait that ctx ended has given up nothing.
func TestSpecContextPending(t *testing.T) {
	gaveUp := make(chan struct{})
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			<-gaveUp
			_, err := w.AgreeFailed(ctx)
			ok(t, "agree", err)
			_, err = w.Shrink(ctx)
			ok(t, "shrink", err)
			return
		}
		f, s := w.IagreeFailed(), w.Ishrink()
		_, over, err := s.Test()
		if over || err != nil {
			t.Errorf("without the other: %v, %v", over, err)
		}
		_, err = f.Wait(ended(ctx))
		want(t, "failed", err, context.Canceled)
		_, err = s.Wait(ended(ctx))
		want(t, "shrink", err, context.Canceled)
		wantRanks(t, err, 1)
		close(gaveUp)
		_, err = f.Wait(ctx)
		ok(t, "failed, again", err)
		c, err := s.Wait(ctx)
		ok(t, "shrink, again", err)
		if c == nil || c.Size() != 2 {
			t.Errorf("%v", c)
		}
	})
}

// TestRequestsThatWereNeverStarted are inactive, and those that could not be started report so
// once.
func TestRequestsThatWereNeverStarted(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		for _, s := range []*comm.Pending[*comm.Comm]{nil, {}} {
			_, err := s.Wait(ctx)
			want(t, "shrink", err, comm.ErrInactive)
			_, _, err = s.Test()
			want(t, "shrink", err, comm.ErrInactive)
		}
		for _, f := range []*comm.Pending[comm.Group]{nil, {}} {
			_, err := f.Wait(ctx)
			want(t, "failed", err, comm.ErrInactive)
			_, _, err = f.Test()
			want(t, "failed", err, comm.ErrInactive)
		}
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		ok(t, "free", d.Free())
		s, f := d.Ishrink(), d.IagreeFailed()
		_, over, err := s.Test()
		want(t, "shrink", err, comm.ErrFreed)
		if !over {
			t.Error("it is not over")
		}
		_, err = s.Wait(ctx)
		want(t, "shrink, again", err, comm.ErrInactive)
		_, err = f.Wait(ctx)
		want(t, "failed", err, comm.ErrFreed)
		_, _, err = f.Test()
		want(t, "failed, again", err, comm.ErrInactive)
	})
}

// A shrink is under way while the survivors save their data.
func ExampleComm_Ishrink() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		r := w.Ishrink()
		// ... work that needs nobody ...
		s, err := r.Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(s.Group(), err)
		}
	})
	// Output: [0 2] <nil>
}

func ExampleComm_IagreeFailed() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		g, err := w.IagreeFailed().Wait(ctx)
		if w.Rank() == 0 {
			fmt.Println(g, err)
		}
	})
	// Output: [1] <nil>
}
