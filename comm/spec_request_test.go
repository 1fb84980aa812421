package comm_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// bulk is a length above the limit for messages that are pushed at once.
const bulk = 100_000

// TestSpecR7R8CompleteStaysComplete: requests that are complete when the peer dies
// and the communicator is revoked are a success, in any way of asking.
func TestSpecR7R8CompleteStaysComplete(t *testing.T) {
	sent := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		switch w.Rank() {
		case 1:
			for i := range 5 {
				ok(t, "send", comm.Send(ctx, d.To(0), []int{i}))
			}
			close(sent)
			commtest.Kill(w)
		case 2:
			return
		}
		var rs []comm.Request
		in := make([][]int, 5)
		for i := range in {
			in[i] = []int{-1}
			rs = append(rs, comm.Irecv(d.From([]int{1, comm.Any}[i%2]), in[i]))
		}
		<-sent
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1)) // messages that the dead had sent are taken first
		ok(t, "revoke", d.Revoke())
		st, err := rs[0].Wait(ctx)
		if err != nil || st.Source != 1 {
			t.Errorf("wait: %+v, %v", st, err)
		}
		st, over, err := rs[1].Test()
		if err != nil || !over || st.Source != 1 {
			t.Errorf("test: %+v, %v, %v", st, over, err)
		}
		ok(t, "wait all", comm.WaitAll(ctx, rs[2], rs[3]))
		i, _, err := comm.WaitAny(ctx, rs[4])
		if i != 0 || err != nil {
			t.Errorf("wait any: %d, %v", i, err)
		}
		for i, got := range in {
			if got[0] != i {
				t.Errorf("message %d: got %d", i, got[0])
			}
		}
	})
}

// TestSpecR50AlreadyMatchedSucceeds: the message of a living sender has matched a posted wildcard
// receive, and its data have not arrived. The receive succeeds although a third process dies.
func TestSpecR50AlreadyMatchedSucceeds(t *testing.T) {
	announced, matched, dead := make(chan struct{}), make(chan struct{}), make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 2:
			<-matched
			defer close(dead)
			commtest.Kill(w)
		case 1:
			r := comm.Issend(w.To(0), make([]int, bulk))
			close(announced)
			<-dead // no progress for the data until then, but for the background's
			ok(t, "send", waitFor(ctx, r))
			return
		}
		in := make([]int, bulk)
		r := comm.Irecv(w.From(comm.Any), in)
		<-announced
		if _, _, err := r.Test(); err != nil { // this call polls, and matches
			t.Error(err)
		}
		if r.Cancel() {
			t.Error("it had not matched")
		}
		close(matched)
		<-dead
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		st, err := r.Wait(ctx)
		if want := (comm.Status{Source: 1, Count: bulk, Bytes: 8 * bulk}); err != nil || st != want {
			t.Errorf("matched before the death: %+v, %v", st, err)
		}
	})
}

// TestSpecR50PendingComesFirst: when the death is known and nothing has matched, the
// posted receive is pending, and its message, which comes later, is not lost.
func TestSpecR50PendingComesFirst(t *testing.T) {
	asked := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2)
		if w.Rank() == 1 {
			<-asked
			ok(t, "send", comm.Send(ctx, w.To(0), []int{4}))
			return
		}
		in := []int{0}
		r := comm.Irecv(w.From(comm.Any), in)
		want(t, "wait", waitFor(ctx, r), ulfm.ErrProcFailedPending)
		close(asked)
		ok(t, "acknowledge", w.FailureAck())
		st, err := r.Wait(ctx)
		if err != nil || st.Source != 1 || in[0] != 4 {
			t.Errorf("afterwards: %+v, %v, %d", st, err, in[0])
		}
	})
}

// TestSpecR51OneOfMany: WaitAny and TestAny return one request that is complete,
// failed or pending; the pending one stays active, the others are not touched.
func TestSpecR51OneOfMany(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			_, err := comm.Recv(ctx, w.From(0), []int{0})
			ok(t, "sign", err)
			ok(t, "send", comm.Send(ctx, w.To(0).Tag(5), []int{5}))
			ok(t, "send", comm.Send(ctx, w.To(0).Tag(6), []int{6}))
			return
		}
		killAndWatch(ctx, t, w, 3)
		if w.Rank() == 2 {
			return
		}
		for _, call := range []func(rs ...comm.Request) (int, error){
			func(rs ...comm.Request) (int, error) { i, _, err := comm.WaitAny(ctx, rs...); return i, err },
			func(rs ...comm.Request) (int, error) {
				i, _, over, err := comm.TestAny(rs...)
				if !over {
					return -2, err
				}
				return i, err
			},
		} {
			live := comm.Irecv(w.From(1).Tag(5), []int{0})
			dead := comm.Irecv(w.From(3), []int{0})
			i, err := call(live, dead)
			want(t, "the failed one", err, ulfm.ErrProcFailed)
			wantRanks(t, err, 3)
			want(t, "it is over", waitFor(ctx, dead), comm.ErrInactive)
			any := comm.Irecv(w.From(comm.Any).Tag(6), []int{0})
			j, err := call(live, any)
			want(t, "the pending one", err, ulfm.ErrProcFailedPending)
			if i != 1 || j != 1 {
				t.Errorf("returned requests %d and %d", i, j)
			}
			if _, over, err := live.Test(); over || err != nil {
				t.Errorf("the other one: %v, %v", over, err)
			}
			if !any.Cancel() || !live.Cancel() {
				t.Error("they are not active any more")
			}
		}
		ok(t, "acknowledge", w.FailureAck())
		live := comm.Irecv(w.From(1).Tag(5), []int{0})
		any := comm.Irecv(w.From(comm.Any).Tag(6), []int{0})
		ok(t, "sign", comm.Send(ctx, w.To(1), []int{0}))
		first, _, err := comm.WaitAny(ctx, live, any)
		ok(t, "first", err)
		second, _, err := comm.WaitAny(ctx, live, any)
		ok(t, "second", err)
		none, _, err := comm.WaitAny(ctx, live, any)
		if first+second != 1 || none != -1 || err != nil {
			t.Errorf("complete ones: %d, %d, then %d, %v", first, second, none, err)
		}
	})
}

// mixed are requests of which one is complete, one waits for a living rank, one has
// failed and one is pending.
func mixed(ctx context.Context, t *testing.T, w *comm.Comm) []comm.Request {
	t.Helper()
	ok(t, "send", comm.Send(ctx, w.To(0).Tag(1), []int{9}))
	return []comm.Request{
		comm.Irecv(w.From(0).Tag(1), []int{0}),
		comm.Irecv(w.From(1).Tag(5), []int{0}),
		comm.Irecv(w.From(2), []int{0}),
		comm.Irecv(w.From(comm.Any).Tag(8), []int{0}),
	}
}

// TestSpecR52R65C1ErrorsPerRequest: the calls for several requests return although one request can
// never complete, report the result of each request, and cancel none.
func TestSpecR52R65C1ErrorsPerRequest(t *testing.T) {
	done := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2)
		if w.Rank() == 1 {
			<-done
			for range 4 {
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(5), []int{5}))
			}
			return
		}
		var left []comm.Request
		check := func(call string, rs []comm.Request, err error) {
			t.Helper()
			var m *comm.MultiError
			if !errors.As(err, &m) || len(m.Errs) != len(rs) {
				t.Errorf("%s: %v", call, err)
				return
			}
			if m.Errs[0] != nil || m.Errs[1] != nil {
				t.Errorf("%s: complete: %v, waiting: %v", call, m.Errs[0], m.Errs[1])
			}
			want(t, call+", failed", m.Errs[2], ulfm.ErrProcFailed)
			wantRanks(t, m.Errs[2], 2)
			want(t, call+", pending", m.Errs[3], ulfm.ErrProcFailedPending)
			want(t, call+": the complete one is over", waitFor(ctx, rs[0]), comm.ErrInactive)
			want(t, call+": the failed one is over", waitFor(ctx, rs[2]), comm.ErrInactive)
			if _, over, err := rs[1].Test(); over || err != nil {
				t.Errorf("%s: the waiting one: %v, %v", call, over, err)
			}
			if !rs[3].Cancel() {
				t.Errorf("%s: the pending one is not active", call)
			}
			left = append(left, rs[1])
		}
		rs := mixed(ctx, t, w)
		check("wait all", rs, comm.WaitAll(ctx, rs...))
		rs = mixed(ctx, t, w)
		over, err := comm.TestAll(rs...)
		if !over {
			t.Error("an error is not the end of progress for TestAll")
		}
		check("test all", rs, err)
		for call, f := range map[string]func(rs ...comm.Request) ([]int, error){
			"wait some": func(rs ...comm.Request) ([]int, error) { return comm.WaitSome(ctx, nil, rs...) },
			"test some": func(rs ...comm.Request) ([]int, error) { return comm.TestSome(nil, rs...) },
		} {
			rs = mixed(ctx, t, w)
			is, err := f(rs...)
			if !slices.Equal(is, []int{0, 2, 3}) {
				t.Errorf("%s: over are %v", call, is)
			}
			check(call, rs, err)
		}
		close(done)
		ok(t, "those that were waiting", comm.WaitAll(ctx, left...))
	})
}

// TestSpecR52RevokedPerRequest: each request of a revoked communicator returns ErrRevoked, and
// those of another communicator are not affected.
func TestSpecR52RevokedPerRequest(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		other := 1 - w.Rank()
		rs := []comm.Request{comm.Irecv(d.From(other), []int{0}), comm.Irecv(d.From(comm.Any), []int{0}), comm.Irecv(w.From(other), []int{0})}
		if w.Rank() == 0 {
			ok(t, "revoke", d.Revoke())
		}
		err = comm.WaitAll(ctx, rs...)
		var m *comm.MultiError
		if !errors.As(err, &m) {
			t.Errorf("wait all: %v", err)
			return
		}
		want(t, "named", m.Errs[0], ulfm.ErrRevoked)
		want(t, "any", m.Errs[1], ulfm.ErrRevoked)
		ok(t, "another communicator", m.Errs[2])
		_, err = w.Agree(ctx, 0) // no rank sends before both have polled
		ok(t, "agree", err)
		ok(t, "send", comm.Send(ctx, w.To(other), []int{0}))
		ok(t, "another communicator", waitFor(ctx, rs[2]))
	})
}

// TestSpecR53NoProcessAndSelf are not affected by any death.
func TestSpecR53NoProcessAndSelf(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 1, 2)
		for call, f := range sends {
			ok(t, call+" to none", f(ctx, w.To(comm.None)))
		}
		for call, f := range receives {
			ok(t, call+" from none", f(ctx, w.From(comm.None)))
		}
		st, err := comm.Recv(ctx, w.From(comm.None), []int{3})
		if want := (comm.Status{Source: comm.None, Tag: comm.Any}); err != nil || st != want {
			t.Errorf("from none: %+v, %v", st, err)
		}
		in := make([]int, bulk)
		st, err = comm.SendRecv(ctx, w.To(0), slices.Repeat([]int{3}, bulk), w.From(0), in)
		if err != nil || st.Count != bulk || in[bulk-1] != 3 {
			t.Errorf("with oneself: %+v, %v", st, err)
		}
		r := comm.Issend(w.To(0).Tag(1), []int{0})
		ok(t, "probe oneself", receives["Probe"](ctx, w.From(0).Tag(1)))
		ok(t, "receive from oneself", receives["Recv"](ctx, w.From(0).Tag(1)))
		ok(t, "issend to oneself", waitFor(ctx, r))
	})
}

// TestSpecR66BufferOfAFailedSend belongs to the caller again as soon as the call has returned the
// error: later changes of the buffer never arrive. The race detector checks this, too.
func TestSpecR66BufferOfAFailedSend(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for range 10 {
			d, err := w.Dup(ctx)
			ok(t, "dup", err)
			if w.Rank() == 1 {
				in := make([]int, bulk)
				r := comm.Irecv(d.From(0), in)
				ok(t, "revoke", d.Revoke())
				_ = waitFor(ctx, r)
				_, err := w.Agree(ctx, 0) // the sender has overwritten its buffer
				ok(t, "agree", err)
				if slices.Contains(in, 99) {
					t.Error("what was written after the error has arrived")
				}
				continue
			}
			out := make([]int, bulk)
			if err := comm.Send(ctx, d.To(1), out); err != nil {
				want(t, "send", err, ulfm.ErrRevoked)
			}
			for i := range out {
				out[i] = 99
			}
			_, err = w.Agree(ctx, 0)
			ok(t, "agree", err)
		}
	})
}

// TestSpecR67MemoryIsReleased: once a request has ended by an error nothing here
// holds its buffer, though the program keeps the handle.
func TestSpecR67MemoryIsReleased(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 2)
		if w.Rank() == 1 {
			return
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		kept := map[string]comm.Request{}
		held := map[string]weak.Pointer[int]{}
		for name, f := range map[string]func(buf []int) (comm.Request, error){
			"receive from the dead": func(buf []int) (comm.Request, error) {
				r := comm.Irecv(w.From(2), buf)
				return r, waitFor(ctx, r)
			},
			"send to the dead": func(buf []int) (comm.Request, error) {
				r := comm.Issend(w.To(2), buf)
				return r, waitFor(ctx, r)
			},
			"pending, cancelled": func(buf []int) (comm.Request, error) {
				r := comm.Irecv(w.From(comm.Any), buf)
				defer r.Cancel()
				return r, waitFor(ctx, r)
			},
			"revoked": func(buf []int) (comm.Request, error) {
				r := comm.Irecv(d.From(1), buf)
				ok(t, "revoke", d.Revoke())
				return r, waitFor(ctx, r)
			},
			"given up": func(buf []int) (comm.Request, error) {
				_, err := comm.Recv(over, w.From(1), buf)
				return comm.Request{}, err
			},
			"blocking, from any": func(buf []int) (comm.Request, error) {
				_, err := comm.Recv(ctx, w.From(comm.Any), buf)
				return comm.Request{}, err
			},
		} {
			buf := make([]int, 1000)
			held[name] = weak.Make(&buf[0])
			if kept[name], err = f(buf); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		runtime.GC()
		runtime.GC()
		for name, p := range held {
			if p.Value() != nil {
				t.Errorf("%s: its buffer is still held", name)
			}
		}
		if waits := door.Engine(w).Proc().Waits(); len(waits) != 0 {
			t.Errorf("still under way: %v", waits)
		}
		runtime.KeepAlive(kept)
	})
}
