package comm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
)

// TestPendingAsOneOfSeveral: a program waits for a shrink and messages together; the end of the
// shrink is reported once, and its result is available afterwards, once.
func TestPendingAsOneOfSeveral(t *testing.T) {
	waits := map[string]func(ctx context.Context, rs ...comm.Request) error{
		"WaitAny": func(ctx context.Context, rs ...comm.Request) error {
			for range rs {
				if _, _, err := comm.WaitAny(ctx, rs...); err != nil {
					return err
				}
			}
			return nil
		},
		"WaitAll": comm.WaitAll,
		"WaitSome": func(ctx context.Context, rs ...comm.Request) error {
			for over := 0; over < len(rs); {
				done, err := comm.WaitSome(ctx, nil, rs...)
				if over += len(done); err != nil {
					return err
				}
			}
			return nil
		},
		"TestAll": func(ctx context.Context, rs ...comm.Request) error {
			for {
				if over, err := comm.TestAll(rs...); over || err != nil || ctx.Err() != nil {
					return err
				}
			}
		},
		"Wait": func(ctx context.Context, rs ...comm.Request) error {
			for _, r := range rs {
				if _, err := r.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
				next, prev := (w.Rank()+1)%3, (w.Rank()+2)%3
				in := []int{0}
				received := comm.Irecv(w.From(prev), in)
				shrink := w.Ishrink()
				ok(t, "send", comm.Send(ctx, w.To(next), []int{w.Rank()}))
				r := shrink.Request()
				ok(t, name, wait(ctx, received, r))
				assert.Equal(t, prev, in[0])
				_, err := r.Wait(ctx)
				want(t, "the request again", err, comm.ErrInactive)
				s, over, err := shrink.Test()
				ok(t, "test", err)
				if !assert.True(t, over) {
					return
				}
				assert.Equal(t, 3, s.Size())
				_, err = shrink.Wait(ctx)
				want(t, "the result again", err, comm.ErrInactive)
				works(ctx, t, s)
			})
		})
	}
}

// TestPendingResultComesFirst: after the result has been taken, the requests do not report the end.
func TestPendingResultComesFirst(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		p := w.IagreeFailed()
		r := p.Request()
		_, err := p.Wait(ctx)
		ok(t, "wait", err)
		_, err = r.Wait(ctx)
		want(t, "the request", err, comm.ErrInactive)
		i, _, err := comm.WaitAny(ctx, r)
		ok(t, "wait any", err)
		assert.Equal(t, -1, i, "an inactive request is over")
	})
}

// TestPendingErrorIsHandledOnce: both ways to the end return the error, and the handler is called
// once.
func TestPendingErrorIsHandledOnce(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		handled := 0
		d.SetErrorHandler(func(_ *comm.Comm, err error) error {
			handled++
			return err
		})
		ok(t, "free", d.Free())
		p := d.Ishrink()
		assert.Zero(t, handled, "starting raises nothing")
		_, _, err = comm.WaitAny(ctx, p.Request())
		want(t, "request", err, comm.ErrFreed)
		s, err := p.Wait(ctx)
		want(t, "result", err, comm.ErrFreed)
		assert.Nil(t, s)
		assert.Equal(t, 1, handled)
		_, err = p.Wait(ctx)
		want(t, "again", err, comm.ErrInactive)
	})
}

// TestFreedPendingFreesWhatItMakes: the program frees the request at once, or after another request
// has reported the end.
func TestFreedPendingFreesWhatItMakes(t *testing.T) {
	for name, before := range map[string]func(ctx context.Context, r comm.Request){
		"at once": func(context.Context, comm.Request) {},
		"when told": func(ctx context.Context, r comm.Request) {
			_, err := r.Wait(ctx)
			ok(t, "wait", err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == 0 {
					p := w.Ishrink()
					before(ctx, p.Request())
					ok(t, "free", p.Request().Free())
					_, err := p.Wait(ctx)
					want(t, "the result", err, comm.ErrInactive)
					return
				}
				s, err := w.Shrink(ctx)
				ok(t, "shrink", err)
				want(t, "to who gave it up", comm.Ssend(ctx, s.To(0), []int{1}), comm.ErrFreed)
			})
		})
	}
}

// TestPendingOfNothing has a request that is over.
func TestPendingOfNothing(t *testing.T) {
	var p *comm.Pending[comm.Group]
	_, over, err := p.Request().Test()
	ok(t, "test", err)
	assert.True(t, over)
}

// A rank waits for the first event: a message, or the end of a shrink.
func ExamplePending_Request() {
	ranks(2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, _ = w.Shrink(ctx)
			return
		}
		message := comm.Irecv(w.From(1), []int{0})
		shrink := w.Ishrink()
		i, _, err := comm.WaitAny(ctx, message, shrink.Request())
		fmt.Println("request", i, err)
		s, err := shrink.Wait(ctx) // the result is there
		fmt.Println(s.Size(), err, message.Cancel())
	})
	// Output:
	// request 1 <nil>
	// 2 <nil> true
}
