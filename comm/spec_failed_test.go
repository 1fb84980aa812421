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

// TestSpecR4KnowledgeGrowsInTheBackground: a process that makes no call still learns of a death.
// (The query of this test does not poll for news.)
func TestSpecR4KnowledgeGrowsInTheBackground(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		until(ctx, t, "the death", func() bool { return door.Engine(w).Proc().Declared().Has(2) })
		if got := w.GetFailed().Processes(); !slices.Equal(got, []int{2}) {
			t.Errorf("failed %v", got)
		}
	})
}

// TestSpecR19GetFailedIsLocal: the result is empty without failures, and needs no other member.
func TestSpecR19GetFailedIsLocal(t *testing.T) {
	asked := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() != 0 {
			<-asked // the others make no call meanwhile
			if w.Rank() == 2 {
				commtest.Kill(w)
			}
			return
		}
		if got := w.GetFailed(); got.Size() != 0 || !got.Equal(comm.Group{}) {
			t.Errorf("failed %v", got)
		}
		close(asked)
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		if got := w.GetFailed().Processes(); !slices.Equal(got, []int{2}) {
			t.Errorf("failed %v", got)
		}
	})
}

// TestSpecR20C6OrderOfLearning: for several orders of deaths, a rank reports the dead in the order
// in which it learnt of them, and not by rank.
func TestSpecR20C6OrderOfLearning(t *testing.T) {
	for _, order := range [][]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}} {
		dead := make([]chan struct{}, 4)
		for i := range dead {
			dead[i] = make(chan struct{})
		}
		commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
			if i := slices.Index(order, w.Rank()); i >= 0 {
				if i > 0 {
					<-dead[order[i-1]]
				}
				commtest.Kill(w)
			}
			for i, victim := range order {
				ok(t, "deaths", commtest.AwaitFailure(ctx, w, i+1))
				close(dead[victim])
			}
			if got := w.GetFailed().Processes(); !slices.Equal(got, order) {
				t.Errorf("learnt %v, reports %v", order, got)
			}
		})
	}
}

// TestSpecR21Arguments: below 0 and above the size is an error and acknowledges
// nothing.
func TestSpecR21Arguments(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2)
		for _, n := range []int{-1, 4, 1 << 40} {
			acked, err := w.AckFailed(n)
			want(t, "acknowledge", err, comm.ErrArgument)
			if acked != 0 || w.FailureGetAcked().Size() != 0 {
				t.Errorf("AckFailed(%d) acknowledged %d", n, acked)
			}
		}
	})
}

// TestSpecR22AcknowledgedFailuresInterruptNothing: wildcards wait for the living
// and agreements succeed; a failure that comes later interrupts again.
func TestSpecR22AcknowledgedFailuresInterruptNothing(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 3 {
			commtest.Kill(w)
		}
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		ok(t, "acknowledge", w.FailureAck())
		flag, err := w.Agree(ctx, 6)
		if flag != 6 || err != nil {
			t.Errorf("agree: %d, %v", flag, err)
		}
		next, prev := (w.Rank()+1)%3, (w.Rank()+2)%3
		r := comm.Irecv(w.From(comm.Any), []int{0})
		ok(t, "send", comm.Send(ctx, w.To(next), []int{0}))
		st, err := r.Wait(ctx)
		if err != nil || st.Source != prev {
			t.Errorf("posted: %+v, %v", st, err)
		}
		_, err = w.Agree(ctx, 0) // all have received
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 3, 2)
		want(t, "a later failure", receives["Recv"](ctx, w.From(comm.Any)), ulfm.ErrProcFailed)
		_, err = w.Agree(ctx, 6)
		want(t, "agree", err, ulfm.ErrProcFailed)
	})
}

// TestSpecR24AcknowledgementsStayAtHome: of one communicator and one process.
func TestSpecR24AcknowledgementsStayAtHome(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 2)
		if w.Rank() == 0 {
			ok(t, "acknowledge", w.FailureAck())
			want(t, "the other communicator", receives["Recv"](ctx, d.From(comm.Any)), ulfm.ErrProcFailed)
			if d.FailureGetAcked().Size() != 0 {
				t.Error("acknowledged on the other communicator as well")
			}
		}
		_, err = w.Agree(ctx, 0)
		want(t, "one has not acknowledged", err, ulfm.ErrProcFailed)
		if got := w.FailureGetAcked().Size(); got != 1-w.Rank() {
			t.Errorf("rank %d: %d acknowledged", w.Rank(), got)
		}
	})
}

// TestSpecR25OlderSpelling: FailureAck acknowledges the failures known at that moment, not later
// ones, and mixes with AckFailed.
func TestSpecR25OlderSpelling(t *testing.T) {
	known := make(chan struct{})
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 0:
		case 3:
			<-known
			commtest.Kill(w)
		case 2:
			commtest.Kill(w)
		default:
			return
		}
		if got := w.FailureGetAcked(); got.Size() != 0 {
			t.Errorf("acknowledged %v before anything", got)
		}
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		ok(t, "acknowledge", w.FailureAck())
		close(known)
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 2))
		if got := w.FailureGetAcked().Processes(); !slices.Equal(got, []int{2}) {
			t.Errorf("acknowledged %v", got)
		}
		acked, err := w.AckFailed(0)
		if acked != 1 || err != nil {
			t.Errorf("the newer spelling counts %d, %v", acked, err)
		}
		_, err = w.AckFailed(2)
		ok(t, "acknowledge", err)
		if got := w.FailureGetAcked(); !got.Equal(w.GetFailed()) {
			t.Errorf("acknowledged %v", got)
		}
	})
}

// TestSpecR26C5WildcardsNeedAllAcknowledged: after a part they stay interrupted,
// also the request that is already posted.
func TestSpecR26C5WildcardsNeedAllAcknowledged(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2, 3)
		in := []int{0}
		r := comm.Irecv(w.From(comm.Any), in)
		want(t, "nothing acknowledged", waitFor(ctx, r), ulfm.ErrProcFailedPending)
		_, err := w.AckFailed(1)
		ok(t, "acknowledge one", err)
		want(t, "posted, part acknowledged", waitFor(ctx, r), ulfm.ErrProcFailedPending)
		want(t, "part acknowledged", receives["Recv"](ctx, w.From(comm.Any)), ulfm.ErrProcFailed)
		_, err = w.AckFailed(2)
		ok(t, "acknowledge the other", err)
		_, err = w.Agree(ctx, 0) // both have seen that it is interrupted
		ok(t, "agree", err)
		ok(t, "send", comm.Send(ctx, w.To(1-w.Rank()), []int{8}))
		st, err := r.Wait(ctx)
		if err != nil || st.Source != 1-w.Rank() || in[0] != 8 {
			t.Errorf("all acknowledged: %+v, %v, %d", st, err, in[0])
		}
	})
}

// TestSpecR32AgreeIgnoresRevocation and stays collective: it waits for a living
// member that has not called, on a revoked communicator, too.
func TestSpecR32AgreeIgnoresRevocation(t *testing.T) {
	hasWaited := make(chan struct{})
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 3)
		ok(t, "revoke", w.Revoke())
		until(ctx, t, "the revocation", w.IsRevoked)
		d := make(chan error, 1)
		if w.Rank() == 0 {
			go func() {
				flag, err := w.Agree(ctx, 12)
				if flag != 8 {
					t.Errorf("flag %d", flag)
				}
				d <- err
			}()
			until(ctx, t, "the wait", func() bool { return len(door.Engine(w).Proc().Waits()) > 0 })
			close(hasWaited)
			err := <-d
			want(t, "agree", err, ulfm.ErrProcFailed)
			wantRanks(t, err, 3)
		} else {
			<-hasWaited
			flag, err := w.Agree(ctx, 9)
			want(t, "agree", err, ulfm.ErrProcFailed)
			if flag != 8 {
				t.Errorf("flag %d", flag)
			}
		}
		ok(t, "acknowledge", w.FailureAck())
		_, err := w.Agree(ctx, 1)
		ok(t, "agree", err)
		g, err := w.AgreeFailed(ctx)
		if err != nil || !slices.Equal(g.Processes(), []int{3}) {
			t.Errorf("agree_failed: %v, %v", g, err)
		}
		flag := uint64(2)
		ok(t, "iagree", waitFor(ctx, w.Iagree(&flag)))
	})
}

// TestSpecR43OldCommunicatorWorksMeanwhile: while a shrink is under way in one
// goroutine, another exchanges messages on the old communicator, and its errors
// are those of the old one.
func TestSpecR43OldCommunicatorWorksMeanwhile(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2)
		type result struct {
			c   *comm.Comm
			err error
		}
		shrunk := make(chan result, 1)
		shrink := func() {
			c, err := w.Shrink(ctx)
			shrunk <- result{c, err}
		}
		other := 1 - w.Rank()
		in := []int{0}
		exchange := func() {
			_, err := comm.SendRecv(ctx, w.To(other), []int{5}, w.From(other), in)
			ok(t, "on the old one", err)
			want(t, "on the old one", comm.Send(ctx, w.To(2), in), ulfm.ErrProcFailed)
		}
		if w.Rank() == 0 { // its shrink waits until the exchanges are over
			go shrink()
			until(ctx, t, "the wait", func() bool { return len(door.Engine(w).Proc().Waits()) > 0 })
			exchange()
			ok(t, "go", comm.Send(ctx, w.To(1).Tag(1), in))
		} else {
			exchange()
			_, err := comm.Recv(ctx, w.From(0).Tag(1), in)
			ok(t, "go", err)
			go shrink()
		}
		r := <-shrunk
		if r.err != nil || r.c.Size() != 2 {
			t.Errorf("shrunk: %v, %v", r.c, r.err)
			return
		}
		works(ctx, t, r.c)
	})
}

// TestSpecR31EverybodyKnowsWhoIsMissing also where the members knew of different
// deaths, and of none.
func TestSpecR31EverybodyKnowsWhoIsMissing(t *testing.T) {
	commtest.Run(t, 6, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 || w.Rank() == 4 {
			commtest.Kill(w)
		}
		_, err := w.Agree(ctx, 0)
		var e *ulfm.Error
		if !errors.As(err, &e) || !errors.Is(err, ulfm.ErrProcFailed) {
			t.Errorf("agree: %v", err)
			return
		}
		known := w.GetFailed().Processes()
		slices.Sort(known)
		if !slices.Equal(known, []int{1, 4}) || !slices.Equal(e.Ranks, []int{1, 4}) {
			t.Errorf("rank %d knows of %v, the error names %v", w.Rank(), known, e.Ranks)
		}
	})
}
