package comm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestPersistentRing: the same two requests, started again and again, carry the
// buffers' contents of each start, short and long.
func TestPersistentRing(t *testing.T) {
	for _, n := range []int{1, bulk} {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			out, in := make([]int, n), make([]int, n)
			left := (w.Rank() + 2) % 3
			send, recv := comm.SendInit(w.To((w.Rank()+1)%3).Tag(4), out), comm.RecvInit(w.From(left).Tag(4), in)
			for i := range 20 {
				out[n-1] = 100*w.Rank() + i
				ok(t, "start", recv.Start())
				ok(t, "start", send.Start())
				if i%2 == 0 {
					ok(t, "wait all", comm.WaitAll(ctx, send, recv))
				} else {
					ok(t, "wait", waitFor(ctx, send))
					st, err := recv.Wait(ctx)
					if err != nil || st != (comm.Status{Source: left, Tag: 4, Count: n, Bytes: 8 * n}) {
						t.Errorf("%+v, %v", st, err)
					}
				}
				if in[n-1] != 100*left+i {
					t.Errorf("round %d: received %d of rank %d", i, in[n-1], left)
				}
			}
			ok(t, "free", send.Free())
			ok(t, "free", recv.Free())
		})
	}
}

// TestPersistentAtRest: before its first start and after its end a wait of any kind ignores the
// request; Start fails while the request is active and after Free.
func TestPersistentAtRest(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		in := []int{0}
		r := comm.RecvInit(w.From(0), in)
		atRest := func() {
			t.Helper()
			st, err := r.Wait(ctx)
			_, over, testErr := r.Test()
			if err != nil || testErr != nil || !over || st.Source != comm.None || r.Cancel() {
				t.Errorf("%+v, %v, %v", st, err, testErr)
			}
			i, _, err := comm.WaitAny(ctx, r, r)
			is, someErr := comm.WaitSome(ctx, nil, r)
			all, allErr := comm.TestAll(r)
			if err := errors.Join(err, someErr, allErr, comm.WaitAll(ctx, r)); err != nil || i != -1 || len(is) != 0 || !all {
				t.Errorf("%d, %v, %v, %v", i, is, all, err)
			}
		}
		atRest()
		ok(t, "start", r.Start())
		want(t, "start of an active one", r.Start(), comm.ErrUnsupported)
		if all, err := comm.TestAll(r); all || err != nil {
			t.Errorf("an active one: %v, %v", all, err)
		}
		ok(t, "send", comm.Send(ctx, w.To(0), []int{3}))
		if i, st, err := comm.WaitAny(ctx, comm.Request{}, r); i != 1 || st.Count != 1 || err != nil || in[0] != 3 {
			t.Errorf("%d, %+v, %v, received %d", i, st, err, in[0])
		}
		atRest()
		ok(t, "start", r.Start())
		if !r.Cancel() {
			t.Error("it was not cancelled")
		}
		atRest()
		ok(t, "free", r.Free())
		want(t, "start of a freed one", r.Start(), comm.ErrInactive)
		want(t, "wait for a freed one", waitFor(ctx, r), comm.ErrInactive)

		want(t, "start of another kind", comm.Irecv(w.From(0).Tag(2), in).Start(), comm.ErrUnsupported)
		want(t, "start of none", comm.Request{}.Start(), comm.ErrUnsupported)
		wrong := comm.SendInit(w.To(3), in)
		want(t, "start of a wrong one", wrong.Start(), comm.ErrRank)
		want(t, "start of a wrong one, again", wrong.Start(), comm.ErrInactive)
		want(t, "a wrong tag", waitFor(ctx, comm.RecvInit(w.From(0).Tag(-3), in)), comm.ErrTag)
		for _, none := range []comm.Request{comm.SendInit(w.To(comm.None), in), comm.RecvInit(w.From(comm.None), in)} {
			for range 2 {
				ok(t, "start with no process", none.Start())
				ok(t, "wait", waitFor(ctx, none))
			}
		}
	})
}

// TestStartAllocatesNothing.
func TestStartAllocatesNothing(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		send, recv := comm.SendInit(w.To(0), []int{1}), comm.RecvInit(w.From(0), []int{0})
		per := testing.AllocsPerRun(200, func() {
			ok(t, "start", recv.Start())
			ok(t, "start", send.Start())
			ok(t, "wait", waitFor(ctx, send))
			ok(t, "wait", waitFor(ctx, recv))
		})
		if per > 0 {
			t.Errorf("%v allocations", per)
		}
	})
}

// TestSpecR64PersistentAfterAnError: the start towards a dead rank, or on a revoked communicator,
// reports no error; the wait does. Then the request is inactive, and may be started again, which
// ends the same way, or freed.
func TestSpecR64PersistentAfterAnError(t *testing.T) {
	for _, revoke := range []bool{false, true} {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			ok(t, "dup", err)
			class := ulfm.ErrProcFailed
			if revoke {
				class = ulfm.ErrRevoked
				ok(t, "revoke", d.Revoke())
			} else {
				killAndWatch(ctx, t, w, 1)
			}
			for op, r := range map[string]comm.Request{
				"send_init": comm.SendInit(d.To(1), []int{1}), "recv_init": comm.RecvInit(d.From(1), []int{1}),
			} {
				for range 3 {
					ok(t, op+": start", r.Start())
					err := waitFor(ctx, r)
					want(t, op+": wait", err, class)
					wantOp(t, err, op)
					wantRanks(t, err, 1)
					ok(t, op+": inactive", waitFor(ctx, r))
				}
				ok(t, op+": start", r.Start())
				ok(t, op+": free", r.Free())
				want(t, op+": start of a freed one", r.Start(), comm.ErrInactive)
			}
			ok(t, "free", d.Free())
			r := comm.RecvInit(d.From(0), []int{0})
			want(t, "start on a freed communicator", r.Start(), comm.ErrFreed)
			ok(t, "inactive", waitFor(ctx, r))
		})
	}
}

// TestSpecR64R49PersistentFromAny: a death makes the request pending, and it stays active; after an
// acknowledgement the request continues, and can be started again after its end.
func TestSpecR64R49PersistentFromAny(t *testing.T) {
	started := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 1:
			<-started
			commtest.Kill(w)
		case 2:
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
			ok(t, "sign", err)
			for i := range 2 {
				ok(t, "send", comm.Send(ctx, w.To(0), []int{i}))
			}
			return
		}
		in := []int{-1}
		r := comm.RecvInit(w.From(comm.Any), in)
		ok(t, "start", r.Start())
		close(started)
		for range 2 {
			err := waitFor(ctx, r)
			want(t, "wait", err, ulfm.ErrProcFailedPending)
			wantRanks(t, err, 1)
			want(t, "start of a pending one", r.Start(), comm.ErrUnsupported)
		}
		ok(t, "acknowledge", w.FailureAck())
		ok(t, "sign", comm.Send(ctx, w.To(2).Tag(1), []int{0}))
		for i := range 2 {
			if i > 0 {
				ok(t, "start", r.Start())
			}
			st, err := r.Wait(ctx)
			if err != nil || st.Source != 2 || in[0] != i {
				t.Errorf("%+v, %v, received %d, want %d", st, err, in[0], i)
			}
		}
	})
}
