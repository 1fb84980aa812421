package comm_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/testing/spectable"
	"github.com/goulfm/goulfm/ulfm"
)

// until waits for a condition that another rank, or the background, makes true.
func until(ctx context.Context, t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		if ctx.Err() != nil {
			t.Errorf("%s: it never comes", what)
			return
		}
		runtime.Gosched()
	}
}

// TestSpecR9AnyMemberRevokesAlone, with a failure or without: the others make no
// call on the communicator, and Revoke returns all the same.
func TestSpecR9AnyMemberRevokesAlone(t *testing.T) {
	const n = 4
	for revoker := range n - 1 {
		for _, failure := range []bool{false, true} {
			returned := make(chan struct{})
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				d, err := w.Dup(ctx)
				ok(t, "dup", err)
				_, err = w.Agree(ctx, 0)
				ok(t, "agree", err)
				if failure {
					killAndWatch(ctx, t, w, n-1)
				}
				if w.Rank() == revoker {
					ok(t, "revoke", d.Revoke())
					close(returned)
				}
				<-returned // nobody else has called anything meanwhile
				until(ctx, t, "the revocation", d.IsRevoked)
				want(t, "recv", receives["Recv"](ctx, d.From((d.Rank()+1)%3)), ulfm.ErrRevoked)
			})
		}
	}
}

// TestSpecR10RevokerDies before each frame in turn: if any living member has learnt of the
// revocation, all learn. An agreement on the world follows the flood on each channel, so after the
// agreement a single poll is enough.
func TestSpecR10RevokerDies(t *testing.T) {
	const n, revoker = 5, 2
	for frame := uint64(1); !t.Failed(); frame++ {
		var heard atomic.Bool
		came := commtest.RunKilled(t, n, revoker, frame, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			if w.Rank() == revoker {
				if err == nil {
					_ = d.Revoke()
				}
				commtest.Kill(w)
			}
			if err != nil { // the rank died in the creation, which failed everywhere (R56)
				want(t, "dup", err, ulfm.ErrProcFailed)
				return
			}
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			if d.IsRevoked() {
				heard.Store(true)
			}
			_, err = w.Agree(ctx, 0)
			want(t, "agree", err, ulfm.ErrProcFailed)
			if heard.Load() {
				until(ctx, t, "the revocation", d.IsRevoked)
			}
		})
		if !came {
			return
		}
	}
}

// TestSpecR10RevokedThenDead: Revoke has returned, and the revoker dies at once; the others, which
// made no call in between, must all learn of the revocation.
func TestSpecR10RevokedThenDead(t *testing.T) {
	const n, revoker = 4, 1
	var said spectable.Complaints
	for round := range 20 {
		dead := make(chan struct{})
		var lost atomic.Int32
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			ok(t, "dup", err)
			_, err = w.Agree(ctx, 0)
			ok(t, "agree", err)
			if w.Rank() == revoker {
				ok(t, "revoke", d.Revoke())
				defer close(dead)
				commtest.Kill(w)
			}
			<-dead
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			_, err = w.Agree(ctx, 0) // behind every flood
			want(t, "agree", err, ulfm.ErrProcFailed)
			if !d.IsRevoked() {
				lost.Add(1)
			}
		})
		switch lost.Load() {
		case 0:
		case n - 1:
			said.Errorf("round %d: Revoke returned, and no living member ever hears of it", round)
		default:
			t.Errorf("round %d: %d of %d living members hear of it", round, n-1-lost.Load(), n-1)
		}
	}
	said.Judge(t, "comm.TestSpecR10RevokedThenDead", spectable.Gaps())
}

// TestSpecR10RelaysDieToo: one living member has learnt of the revocation. Then the revoker and the
// two members that it informed first die; the rest learn of the revocation.
func TestSpecR10RelaysDieToo(t *testing.T) {
	const n, first = 9, 4
	victims := []int{0, 1, 8}
	heard := make(chan struct{})
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		switch w.Rank() {
		case 0:
			ok(t, "revoke", d.Revoke())
		case first:
			until(ctx, t, "the revocation", d.IsRevoked)
			close(heard)
		}
		<-heard
		if slices.Contains(victims, w.Rank()) {
			commtest.Kill(w)
		}
		want(t, "recv", receives["Recv"](ctx, d.From(2+(d.Rank()-1)%6)), ulfm.ErrRevoked)
	})
}

// TestSpecR11NoOrderWithMessages: a receive raises the revocation although its
// message was sent, and has arrived, earlier.
func TestSpecR11NoOrderWithMessages(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if w.Rank() == 1 {
			ok(t, "send", comm.Send(ctx, d.To(0), []int{1}))
			ok(t, "revoke", d.Revoke())
			return
		}
		until(ctx, t, "the revocation", d.IsRevoked)
		for call, f := range receives {
			want(t, call, f(ctx, d.From(1)), ulfm.ErrRevoked)
			want(t, call+" any", f(ctx, d.From(comm.Any)), ulfm.ErrRevoked)
		}
	})
}

// TestSpecR12ManyRevocationsAreOne, for ever: all ranks revoke at once, each from several
// goroutines, and again; no call undoes the revocation.
func TestSpecR12ManyRevocationsAreOne(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { ok(t, "revoke", d.Revoke()) })
		}
		wg.Wait()
		for range 3 {
			if !d.IsRevoked() {
				t.Error("the revocation has gone")
			}
			want(t, "send", comm.Send(ctx, d.To(0), []int{0}), ulfm.ErrRevoked)
			ok(t, "revoke again", d.Revoke())
			ok(t, "acknowledge", d.FailureAck())
			s, err := d.Shrink(ctx)
			ok(t, "shrink", err)
			if s.IsRevoked() {
				t.Error("the revocation is inherited")
			}
			works(ctx, t, s)
		}
	})
}

// TestSpecR14LocalCallsOfARevokedCommunicator have the answers that they had.
func TestSpecR14LocalCallsOfARevokedCommunicator(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Split(ctx, 0, -w.Rank())
		ok(t, "split", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 3) // rank 0 of d
		group := d.Group()
		ok(t, "revoke", d.Revoke())
		if d.Rank() != 3-w.Rank() || d.Size() != 4 || !d.Group().Equal(group) || d.Epoch() != 0 || !d.IsRevoked() {
			t.Errorf("rank %d of %d, group %v, epoch %d", d.Rank(), d.Size(), d.Group(), d.Epoch())
		}
		if got := d.GetFailed().Processes(); !slices.Equal(got, []int{3}) {
			t.Errorf("failed %v", got)
		}
		acked, err := d.AckFailed(4)
		if acked != 1 || err != nil || d.FailureGetAcked().Size() != 1 {
			t.Errorf("acknowledged %d, %v", acked, err)
		}
		told := 0
		d.SetErrorHandler(func(_ *comm.Comm, err error) error { told++; return err })
		want(t, "send", comm.Send(ctx, d.To(1), []int{0}), ulfm.ErrRevoked)
		if told != 1 {
			t.Errorf("the handler was told %d times", told)
		}
		ok(t, "free", d.Free())
	})
}

// TestSpecR15IsRevokedIsLocal: true when Revoke has returned here, and at another rank at the
// latest when an operation raises ErrRevoked; never before the first revocation.
func TestSpecR15IsRevokedIsLocal(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if d.IsRevoked() {
			t.Error("revoked by nobody")
		}
		_, err = w.Agree(ctx, 0) // everybody has asked
		ok(t, "agree", err)
		if w.Rank() == 0 {
			ok(t, "revoke", d.Revoke())
		} else {
			want(t, "recv", receives["Recv"](ctx, d.From(0)), ulfm.ErrRevoked)
		}
		if !d.IsRevoked() {
			t.Errorf("rank %d does not know what it was told", w.Rank())
		}
	})
}

// TestSpecR16OnlyThatOneIsRevoked: not the parent, nor duplicates and children
// made before.
func TestSpecR16OnlyThatOneIsRevoked(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		twin, err := d.Dup(ctx)
		ok(t, "dup", err)
		child, err := d.Split(ctx, w.Rank()/2, 0)
		ok(t, "split", err)
		shrunk, err := d.Shrink(ctx)
		ok(t, "shrink", err)
		if w.Rank() == 2 {
			ok(t, "revoke", d.Revoke())
		}
		until(ctx, t, "the revocation", d.IsRevoked)
		for name, c := range map[string]*comm.Comm{"parent": w, "duplicate": twin, "child": child, "shrunk": shrunk} {
			if c.IsRevoked() {
				t.Errorf("the %s is revoked, too", name)
			}
		}
		for _, c := range []*comm.Comm{w, twin, child, shrunk} {
			works(ctx, t, c)
		}
	})
}

// TestSpecR17KnownBeforeTheOperationReturns: one goroutine waits in a receive;
// when another has revoked, IsRevoked is true at once, whether the first has
// returned or not.
func TestSpecR17KnownBeforeTheOperationReturns(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if w.Rank() == 1 {
			want(t, "recv", receives["Recv"](ctx, d.From(0)), ulfm.ErrRevoked)
			return
		}
		waits := make(chan error)
		go func() { waits <- receives["Recv"](ctx, d.From(1)) }()
		until(ctx, t, "the wait", func() bool { return len(door.Engine(d).Proc().Waits()) > 0 })
		ok(t, "revoke", d.Revoke())
		if !d.IsRevoked() {
			t.Error("not known while the operation has not returned")
		}
		want(t, "recv", <-waits, ulfm.ErrRevoked)
	})
}
