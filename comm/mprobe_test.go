package comm_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestMprobeTakesTheMessage: no other receive gets the message, later messages of the same sender
// and tag are received earlier, and the message is received once; short and long.
func TestMprobeTakesTheMessage(t *testing.T) {
	for _, n := range []int{1, bulk} {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				first := comm.Isend(w.To(0).Tag(5), slices.Repeat([]int{1}, n))
				second := comm.Issend(w.To(0).Tag(5), slices.Repeat([]int{2}, n))
				ok(t, "the second is received first", waitFor(ctx, second))
				ok(t, "sign", comm.Send(ctx, w.To(0), []int{0}))
				ok(t, "the first", waitFor(ctx, first))
				return
			}
			m, st, err := comm.Mprobe(ctx, w.From(comm.Any).Tag(comm.Any))
			if err != nil || st != (comm.Status{Source: 1, Tag: 5, Count: 8 * n, Bytes: 8 * n}) {
				t.Errorf("mprobe: %+v, %v", st, err)
			}
			in := make([]int, n)
			_, err = comm.Recv(ctx, w.From(1).Tag(5), in)
			if err != nil || in[n-1] != 2 {
				t.Errorf("the next receive: %d, %v", in[n-1], err)
			}
			_, err = comm.Recv(ctx, w.From(1), []int{0})
			ok(t, "sign", err)
			_, err = comm.Mrecv(ended(ctx), m, in)
			want(t, "mrecv, context over", err, context.Canceled)
			st, err = comm.Mrecv(ctx, m, in)
			if err != nil || in[n-1] != 1 || st != (comm.Status{Source: 1, Tag: 5, Count: n, Bytes: 8 * n}) {
				t.Errorf("mrecv: %d, %+v, %v", in[n-1], st, err)
			}
			_, err = comm.Mrecv(ctx, m, in)
			want(t, "mrecv again", err, comm.ErrInactive)
			wantOp(t, err, "mrecv")
			if waits := door.Engine(w).Proc().Waits(); len(waits) != 0 {
				t.Errorf("still under way: %v", waits)
			}
		})
	}
}

// TestMprobeArguments.
func TestMprobeArguments(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		m, st, err := comm.Mprobe(ctx, w.From(comm.None))
		ok(t, "mprobe of none", err)
		got, err := comm.Mrecv(ctx, m, []int{1})
		ok(t, "mrecv of none", err)
		if none := (comm.Status{Source: comm.None, Tag: comm.Any}); st != none || got != none {
			t.Errorf("%+v, %+v", st, got)
		}
		_, _, err = comm.Mprobe(ctx, w.From(4))
		want(t, "mprobe", err, comm.ErrRank)
		_, err = comm.Mrecv(ctx, nil, []int{1})
		want(t, "mrecv of nothing", err, comm.ErrInactive)
		_, _, err = comm.Mprobe(ended(ctx), w.From(0))
		want(t, "mprobe, context over", err, context.Canceled)
		ok(t, "send", comm.Send(ctx, w.To(0), []int{1, 2}))
		m, _, err = comm.Mprobe(ctx, w.From(0))
		ok(t, "mprobe", err)
		in := []int{0}
		st, err = comm.Mrecv(ctx, m, in)
		want(t, "mrecv of what does not fit", err, comm.ErrTruncated)
		if in[0] != 1 || st.Count != 1 {
			t.Errorf("%d, %+v", in[0], st)
		}
		ok(t, "send", comm.Send(ctx, w.To(0), []int{1}))
		m, _, err = comm.Mprobe(ctx, w.From(0))
		ok(t, "mprobe", err)
		_, err = comm.Mrecv(ctx, m, []float64{0})
		want(t, "mrecv of another type", err, comm.ErrType)
	})
}

// TestMprobeOfManyGoroutines: each message is got by one of them, whole: a probe and
// a receive apart would mix them up, for the messages differ in length.
func TestMprobeOfManyGoroutines(t *testing.T) {
	const messages, readers = 200, 4
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			for i := range messages {
				ok(t, "send", comm.Send(ctx, w.To(0), slices.Repeat([]int{i}, i%7*700+1)))
			}
			return
		}
		var mu sync.Mutex
		seen := map[int]int{}
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				for range messages / readers {
					m, st, err := comm.Mprobe(ctx, w.From(1))
					ok(t, "mprobe", err)
					in := make([]int, st.Count/8)
					_, err = comm.Mrecv(ctx, m, in)
					ok(t, "mrecv", err)
					if len(in) != in[0]%7*700+1 || in[len(in)-1] != in[0] {
						t.Errorf("message %d has %d elements, the last %d", in[0], len(in), in[len(in)-1])
					}
					mu.Lock()
					seen[in[0]]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(seen) != messages {
			t.Errorf("%d of %d messages", len(seen), messages)
		}
	})
}

// TestSpecR48R8R13MatchedProbe: a probe from any rank raises a failure that is not acknowledged. If
// the sender dies after the probe, a short message is received and a long one is not. After a
// revocation no earlier probed message is received, and its sender learns of the revocation.
func TestSpecR48R8R13MatchedProbe(t *testing.T) {
	taken := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 1:
			ok(t, "short", comm.Send(ctx, w.To(0).Tag(1), []int{4}))
			_ = comm.Isend(w.To(0).Tag(2), make([]int, bulk))
			<-taken
			commtest.Kill(w)
		case 2:
			d, err := w.Split(ctx, 0, 0)
			want(t, "split", err, ulfm.ErrProcFailed) // everybody knows now
			if d != nil {
				t.Error("there is a communicator")
			}
			s, err := w.Shrink(ctx)
			ok(t, "shrink", err)
			want(t, "a send that was taken and not received", comm.Ssend(ctx, s.To(0), make([]int, bulk)), ulfm.ErrRevoked)
			return
		}
		short, _, err := comm.Mprobe(ctx, w.From(1).Tag(1))
		ok(t, "mprobe", err)
		long, _, err := comm.Mprobe(ctx, w.From(1).Tag(2))
		ok(t, "mprobe", err)
		close(taken)
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		in := make([]int, bulk)
		_, err = comm.Mrecv(ctx, long, in)
		want(t, "long", err, ulfm.ErrProcFailed)
		wantRanks(t, err, 1)
		_, err = comm.Mrecv(ctx, short, in)
		if err != nil || in[0] != 4 {
			t.Errorf("short: %d, %v", in[0], err)
		}
		for _, source := range []int{1, comm.Any} {
			_, _, err = comm.Mprobe(ctx, w.From(source))
			want(t, "mprobe", err, ulfm.ErrProcFailed)
			wantOp(t, err, "mprobe")
			wantRanks(t, err, 1)
		}
		_, err = w.Split(ctx, 0, 0)
		want(t, "split", err, ulfm.ErrProcFailed)
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		m, _, err := comm.Mprobe(ctx, s.From(1))
		ok(t, "mprobe", err)
		ok(t, "revoke", s.Revoke())
		_, err = comm.Mrecv(ctx, m, in)
		want(t, "mrecv", err, ulfm.ErrRevoked)
		wantOp(t, err, "mrecv")
		_, _, err = comm.Mprobe(ctx, s.From(1))
		want(t, "mprobe", err, ulfm.ErrRevoked)
	})
}

// TestSpecContextMatchedReceive: a receive with a context that is over leaves the probed message in
// place; once its receive has begun, the receive completes.
func TestSpecContextMatchedReceive(t *testing.T) {
	for range 20 {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				ok(t, "send", comm.Send(ctx, w.To(0), slices.Repeat([]int{8}, bulk)))
				return
			}
			m, _, err := comm.Mprobe(ctx, w.From(1))
			ok(t, "mprobe", err)
			in := make([]int, bulk)
			_, err = comm.Mrecv(ended(ctx), m, in)
			want(t, "over before", err, context.Canceled)
			err = whileOrOver(ctx, w, func(ctx context.Context) error {
				_, err := comm.Mrecv(ctx, m, in)
				return err
			})
			if err != nil || in[bulk-1] != 8 {
				t.Errorf("over during: %d, %v", in[bulk-1], err)
			}
		})
	}
}
