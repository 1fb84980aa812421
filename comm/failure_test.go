package comm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// killAndWatch ends the calling rank if it is a victim; the others return once they know of all
// victims.
func killAndWatch(ctx context.Context, t *testing.T, w *comm.Comm, victims ...int) {
	if slices.Contains(victims, w.Rank()) {
		commtest.Kill(w)
	}
	ok(t, "deaths", commtest.AwaitFailure(ctx, w, len(victims)))
}

// wantRanks checks which ranks an error names.
func wantRanks(t *testing.T, err error, ranks ...int) {
	t.Helper()
	var e *ulfm.Error
	if assert.ErrorAs(t, err, &e) {
		assert.Equal(t, ranks, e.Ranks, "ranks named by: %v", err)
	}
}

// TestSpecR2UndisturbedRanksSeeNoError: a rank that does not need the dead one continues.
func TestSpecR2UndisturbedRanksSeeNoError(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 3)
		if w.Rank() < 2 {
			in := []int{-1}
			for range 50 {
				_, err := comm.SendRecv(ctx, w.To(1-w.Rank()), []int{w.Rank()}, w.From(1-w.Rank()), in)
				ok(t, "sendrecv", err)
			}
			if in[0] != 1-w.Rank() {
				t.Errorf("received %d", in[0])
			}
		}
	})
}

// TestSpecR3ADeathDisturbsOnlyItsCommunicators.
func TestSpecR3ADeathDisturbsOnlyItsCommunicators(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		pair, err := w.Split(ctx, w.Rank()/2, 0)
		ok(t, "split", err)
		killAndWatch(ctx, t, w, 3)
		if w.Rank() == 2 {
			_, err := comm.Recv(ctx, pair.From(comm.Any), []int{0})
			want(t, "the pair of the dead", err, ulfm.ErrProcFailed)
			return
		}
		if pair.GetFailed().Size() != 0 {
			t.Errorf("failed in the other pair: %v", pair.GetFailed())
		}
		works(ctx, t, pair)
		flag, err := pair.Agree(ctx, 3)
		if flag != 3 || err != nil {
			t.Errorf("agree: %d, %v", flag, err)
		}
		if w.Rank() == 0 {
			in := []int{0}
			r := comm.Irecv(pair.From(comm.Any), in)
			ok(t, "sign", comm.Send(ctx, pair.To(1), in))
			ok(t, "any source", waitFor(ctx, r))
			return
		}
		_, err = comm.Recv(ctx, pair.From(comm.Any), []int{0})
		ok(t, "any source", err)
		ok(t, "send", comm.Send(ctx, pair.To(0), []int{1}))
	})
}

// TestSpecR8WhatArrivedIsReceived, from a named source and from any, by receives
// and probes, though the death is known and not acknowledged.
func TestSpecR8WhatArrivedIsReceived(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			for i := range 4 {
				ok(t, "send", comm.Send(ctx, w.To(0).Tag(i), []int{i}))
			}
		}
		killAndWatch(ctx, t, w, 1)
		in := []int{-1}
		if _, found, err := comm.Iprobe(w.From(1)); !found || err != nil {
			t.Errorf("iprobe: %v, %v", found, err)
		}
		_, err := comm.Probe(ctx, w.From(comm.Any))
		ok(t, "probe", err)
		_, err = comm.Recv(ctx, w.From(1), in)
		ok(t, "named", err)
		_, err = comm.Recv(ctx, w.From(comm.Any).Tag(1), in)
		ok(t, "any", err)
		ok(t, "irecv named", waitFor(ctx, comm.Irecv(w.From(1).Tag(2), in)))
		ok(t, "irecv any", waitFor(ctx, comm.Irecv(w.From(comm.Any).Tag(3), in)))
		if in[0] != 3 {
			t.Errorf("received %d", in[0])
		}
		_, err = comm.Recv(ctx, w.From(1).Tag(comm.Any), in)
		want(t, "nothing left", err, ulfm.ErrProcFailed)
	})
}

// TestSpecR45R46R47KnownDeathAtEveryCall: each names the dead rank, also in the
// status (R46); starting never fails, the wait does (R47).
func TestSpecR45R46R47KnownDeathAtEveryCall(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 1)
		for call, f := range sends {
			err := f(ctx, w.To(1))
			want(t, call, err, ulfm.ErrProcFailed)
		}
		for call, f := range receives {
			err := f(ctx, w.From(1))
			want(t, call, err, ulfm.ErrProcFailed)
			wantRanks(t, err, 1)
			if !ulfm.Recoverable(err) {
				t.Errorf("%s: not recoverable", call)
			}
		}
		st, err := comm.Recv(ctx, w.From(1).Tag(4), []int{0})
		if want := (comm.Status{Source: 1, Tag: 4}); err == nil || st != want {
			t.Errorf("status of a failed receive: %+v", st)
		}
		r := comm.Irecv(w.From(1).Tag(4), []int{0})
		if st, err := r.Wait(ctx); err == nil || st.Source != 1 {
			t.Errorf("status of a failed request: %+v", st)
		}
		want(t, "waited for again", waitFor(ctx, r), comm.ErrInactive)
		_, err = comm.SendRecv(ctx, w.To(comm.None), []int{0}, w.From(1), []int{0})
		want(t, "sendrecv", err, ulfm.ErrProcFailed)
	})
}

// TestSpecR45R46DeathEndsWhatWaits: a receive, an announced send, a synchronous
// send and a probe are under way when the peer dies.
func TestSpecR45R46DeathEndsWhatWaits(t *testing.T) {
	waiting := map[string]func(ctx context.Context, w *comm.Comm) error{
		"recv":  func(ctx context.Context, w *comm.Comm) error { return receives["Recv"](ctx, w.From(1).Tag(1)) },
		"value": func(ctx context.Context, w *comm.Comm) error { return receives["RecvValue"](ctx, w.From(1).Tag(1)) },
		"probe": func(ctx context.Context, w *comm.Comm) error { return receives["Probe"](ctx, w.From(1).Tag(1)) },
		"probe any": func(ctx context.Context, w *comm.Comm) error {
			return receives["Probe"](ctx, w.From(comm.Any).Tag(1))
		},
		"recv any": func(ctx context.Context, w *comm.Comm) error {
			return receives["Recv"](ctx, w.From(comm.Any).Tag(1))
		},
		"ssend": func(ctx context.Context, w *comm.Comm) error { return sends["Ssend"](ctx, w.To(1).Tag(1)) },
		"long send": func(ctx context.Context, w *comm.Comm) error {
			return comm.Send(ctx, w.To(1).Tag(1), make([]int, 100_000))
		},
		"long isend": func(ctx context.Context, w *comm.Comm) error {
			return waitFor(ctx, comm.Isend(w.To(1).Tag(1), make([]int, 100_000)))
		},
		"wait any": func(ctx context.Context, w *comm.Comm) error {
			i, st, err := comm.WaitAny(ctx, comm.Irecv(w.From(0).Tag(1), []int{0}), comm.Irecv(w.From(1).Tag(1), []int{0}))
			if i != 1 || st.Source != 1 {
				return errors.New("the wrong request")
			}
			return err
		},
		"sendrecv": func(ctx context.Context, w *comm.Comm) error {
			_, err := comm.SendRecv(ctx, w.To(1).Tag(1), make([]int, 100_000), w.From(1).Tag(1), []int{0})
			return err
		},
	}
	for name, f := range waiting {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				_, err := comm.Recv(ctx, w.From(0), []int{0})
				ok(t, "sign", err)
				commtest.Kill(w)
			}
			done := make(chan error)
			go func() { done <- f(ctx, w) }()
			for len(door.Engine(w).Proc().Waits()) == 0 {
			}
			ok(t, "sign", comm.Send(ctx, w.To(1), []int{0}))
			err := <-done
			want(t, name, err, ulfm.ErrProcFailed)
			wantRanks(t, err, 1)
		})
	}
}

// TestProbeHearsOfADeathFromOtherCalls: another goroutine's send meets the death
// first; the probe must not sleep on.
func TestProbeHearsOfADeathFromOtherCalls(t *testing.T) {
	for range 10 {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				_, err := comm.Recv(ctx, w.From(0), []int{0})
				ok(t, "sign", err)
				commtest.Kill(w)
			}
			done := make(chan error)
			go func() { done <- receives["Probe"](ctx, w.From(1).Tag(1)) }()
			for len(door.Engine(w).Proc().Waits()) == 0 {
			}
			for comm.Send(ctx, w.To(1), []int{0}) == nil {
			}
			want(t, "probe", <-done, ulfm.ErrProcFailed)
		})
	}
}

// TestSpecR20EachResultIsAPrefixOfTheLaterOnes.
func TestSpecR20EachResultIsAPrefixOfTheLaterOnes(t *testing.T) {
	const n = 9
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		if w.Rank()%2 == 1 {
			after := map[int]int{7: 1, 3: 7, 5: 3} // in no order that a rank number gives
			if before, waits := after[w.Rank()]; waits {
				_, err := comm.Recv(ctx, w.From(before), []int{0})
				want(t, "the one before", err, ulfm.ErrProcFailed)
			}
			commtest.Kill(w)
		}
		last := w.GetFailed().Processes()
		for len(last) < n/2 {
			next := w.GetFailed().Processes()
			if len(next) < len(last) || !slices.Equal(next[:len(last)], last) {
				t.Errorf("%v is not a prefix of %v", last, next)
			}
			last = next
		}
		if !slices.Equal(last, []int{1, 7, 3, 5}) { // each death was known to its successor
			t.Errorf("failed: %v", last)
		}
	})
}

// TestSpecR21R24Acknowledge: counts, queries, and that they stay at home.
func TestSpecR21R24Acknowledge(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		_, err = d.Agree(ctx, 0) // nobody dies before all have the duplicate
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 1, 3, 4)
		for _, step := range []struct{ n, acked int }{{0, 0}, {1, 1}, {0, 1}, {2, 2}, {1, 2}, {5, 3}, {0, 3}, {5, 3}} {
			acked, err := w.AckFailed(step.n)
			if acked != step.acked || err != nil {
				t.Errorf("AckFailed(%d) = %d, %v, want %d", step.n, acked, err, step.acked)
			}
			if got, all := w.FailureGetAcked().Processes(), w.GetFailed().Processes(); !slices.Equal(got, all[:acked]) {
				t.Errorf("acknowledged %v of %v", got, all)
			}
		}
		if acked, _ := d.AckFailed(0); acked != 0 {
			t.Errorf("%d are acknowledged on another communicator", acked)
		}
		ok(t, "older spelling", d.FailureAck())
		if d.FailureGetAcked().Size() != 3 || !d.FailureGetAcked().Equal(d.GetFailed()) {
			t.Errorf("acknowledged %v", d.FailureGetAcked())
		}
	})
}

// TestSpecR48BlockingAnySource: an unacknowledged failure ends the receive, an acknowledged one
// does not; all known failures must be acknowledged (R26).
func TestSpecR48BlockingAnySource(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 2))
			_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
			ok(t, "sign", err)
			ok(t, "send", comm.Send(ctx, w.To(0), []int{6}))
			return
		}
		killAndWatch(ctx, t, w, 2, 3)
		for acked := range 2 {
			_, err := w.AckFailed(acked)
			ok(t, "acknowledge", err)
			for _, call := range []string{"Recv", "RecvValue", "Probe", "Iprobe"} {
				err := receives[call](ctx, w.From(comm.Any))
				want(t, call, err, ulfm.ErrProcFailed)
				wantRanks(t, err, w.GetFailed().Processes()...)
			}
			_, err = comm.SendRecv(ctx, w.To(0).Tag(9), []int{0}, w.From(comm.Any), []int{0})
			want(t, "sendrecv", err, ulfm.ErrProcFailed)
		}
		ok(t, "acknowledge all", w.FailureAck())
		ok(t, "iprobe", receives["Iprobe"](ctx, w.From(comm.Any)))
		ok(t, "sign", comm.Send(ctx, w.To(1).Tag(1), []int{0}))
		in := []int{0}
		st, err := comm.Recv(ctx, w.From(comm.Any), in)
		if err != nil || st.Source != 1 || in[0] != 6 {
			t.Errorf("after the acknowledgement: %+v, %v, %d", st, err, in[0])
		}
	})
}

// TestSpecR49PendingThenAcknowledgedThenMatched, posted before the death and after it: the same
// request continues to wait, meets a second failure, and matches.
func TestSpecR49PendingThenAcknowledgedThenMatched(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, n := range []int{1, 100_000} {
			commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
				switch w.Rank() {
				case 1: // the live sender
					_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
					ok(t, "sign", err)
					ok(t, "send", comm.Send(ctx, w.To(0), make([]int, n)))
					return
				case 2, 3:
					_, _ = comm.Recv(ctx, w.From(0).Tag(1), []int{0})
					commtest.Kill(w)
				}
				sign := func(to int) { ok(t, "sign", comm.Send(ctx, w.To(to).Tag(1), []int{0})) }
				var r comm.Request
				in := make([]int, n)
				if !late {
					r = comm.Irecv(w.From(comm.Any), in)
				}
				sign(2)
				ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
				if late {
					r = comm.Irecv(w.From(comm.Any), in)
				}
				for victim := range 2 {
					for range 2 { // the request stays, and reports the same again
						want(t, "wait", waitFor(ctx, r), ulfm.ErrProcFailedPending)
						_, over, err := r.Test()
						want(t, "test", err, ulfm.ErrProcFailedPending)
						if over {
							t.Error("a pending request is over")
						}
						i, _, err := comm.WaitAny(ctx, comm.Request{}, r)
						want(t, "wait any", err, ulfm.ErrProcFailedPending)
						is, err2 := comm.WaitSome(ctx, nil, r)
						want(t, "wait some", err2, ulfm.ErrProcFailedPending)
						want(t, "wait all", comm.WaitAll(ctx, r), ulfm.ErrProcFailedPending)
						if i != 1 || !slices.Equal(is, []int{0}) {
							t.Errorf("pending requests: %d, %v", i, is)
						}
					}
					ok(t, "acknowledge", w.FailureAck())
					if _, over, err := r.Test(); over || err != nil {
						t.Errorf("after the acknowledgement: %v, %v", over, err)
					}
					if victim == 0 {
						sign(3)
						ok(t, "deaths", commtest.AwaitFailure(ctx, w, 2))
					}
				}
				sign(1)
				st, err := r.Wait(ctx)
				if want := (comm.Status{Source: 1, Count: n, Bytes: 8 * n}); err != nil || st != want {
					t.Errorf("matched: %+v, %v", st, err)
				}
			})
		}
	}
}

// TestSpecR49PendingCanBeCancelled, and its buffer is not touched afterwards.
func TestSpecR49PendingCanBeCancelled(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			_, err := comm.Recv(ctx, w.From(0), []int{0})
			ok(t, "sign", err)
			ok(t, "send", comm.Send(ctx, w.To(0), []int{5}))
			return
		}
		killAndWatch(ctx, t, w, 2)
		in, out := []int{0}, []int{0}
		r := comm.Irecv(w.From(comm.Any), in)
		want(t, "wait", waitFor(ctx, r), ulfm.ErrProcFailedPending)
		if !r.Cancel() {
			t.Error("it cannot be cancelled")
		}
		ok(t, "sign", comm.Send(ctx, w.To(1), in))
		_, err := comm.Recv(ctx, w.From(1), out)
		if err != nil || in[0] != 0 || out[0] != 5 {
			t.Errorf("%v: cancelled receive got %d, the next one %d", err, in[0], out[0])
		}
	})
}

// TestSpecR13RevocationEndsEverything: pending and later operations, at all members; a recovery
// call is not ended.
func TestSpecR13RevocationEndsEverything(t *testing.T) {
	const n = 4
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if d.Rank() == 0 { // everybody else waits
			for from := 1; from < n; from++ {
				_, err := comm.Recv(ctx, w.From(from), []int{0})
				ok(t, "sign", err)
			}
			ok(t, "revoke", d.Revoke())
			ok(t, "revoke again", d.Revoke())
		} else {
			ok(t, "sign", comm.Send(ctx, w.To(0), []int{0}))
			posted := []comm.Request{comm.Irecv(d.From(0), []int{0}), comm.Irecv(d.From(comm.Any), []int{0}), comm.Issend(d.To(0), []int{0})}
			want(t, "waiting", receives["Recv"](ctx, d.From(0)), ulfm.ErrRevoked)
			for _, r := range posted {
				want(t, "posted", waitFor(ctx, r), ulfm.ErrRevoked)
			}
		}
		if !d.IsRevoked() || w.IsRevoked() {
			t.Errorf("revoked: %v, its parent %v", d.IsRevoked(), w.IsRevoked())
		}
		for call, f := range sends {
			want(t, call, f(ctx, d.To(0)), ulfm.ErrRevoked)
		}
		for call, f := range receives {
			want(t, call, f(ctx, d.From(comm.Any)), ulfm.ErrRevoked)
		}
		want(t, "dup", calls["Dup"](ctx, d), ulfm.ErrRevoked)
		want(t, "split", calls["Split"](ctx, d), ulfm.ErrRevoked)
		// R14: local calls. R32, R40: the calls that recover.
		if d.Size() != n || d.Rank() != w.Rank() || d.GetFailed().Size() != 0 {
			t.Error("local questions of a revoked communicator have other answers")
		}
		ok(t, "acknowledge", d.FailureAck())
		flag, err := d.Agree(ctx, uint64(8|d.Rank()))
		if flag != 8 || err != nil {
			t.Errorf("agree: %d, %v", flag, err)
		}
		s, err := d.Shrink(ctx)
		ok(t, "shrink", err)
		works(ctx, t, s)
		ok(t, "free", d.Free())
		works(ctx, t, w)
	})
}

// TestSpecR7R18RevokedBeforeDead: a program that calls operations with a dead peer one after
// another learns of the revocation, though none of the operations waits.
func TestSpecR7R18RevokedBeforeDead(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, w *comm.Comm) error{
		"send":  func(ctx context.Context, w *comm.Comm) error { return comm.Send(ctx, w.To(2), []int{0}) },
		"isend": func(ctx context.Context, w *comm.Comm) error { return sends["Isend, Test"](ctx, w.To(2)) },
		"recv":  func(ctx context.Context, w *comm.Comm) error { return receives["Recv"](ctx, w.From(2)) },
		"any":   func(ctx context.Context, w *comm.Comm) error { return receives["Recv"](ctx, w.From(comm.Any)) },
		"probe": func(ctx context.Context, w *comm.Comm) error { return receives["Probe"](ctx, w.From(2)) },
		"collective": func(_ context.Context, w *comm.Comm) error {
			return door.Engine(w).Enter(ulfm.OpCollective)
		},
	} {
		// Signals travel outside of the job: a message would let the revocation in.
		known, revoked := make(chan struct{}), make(chan struct{})
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			killAndWatch(ctx, t, w, 2)
			if w.Rank() == 0 {
				<-known
				ok(t, "revoke", w.Revoke())
				close(revoked)
				return
			}
			if err := call(ctx, w); !errors.Is(err, ulfm.ErrProcFailed) {
				t.Errorf("%s: %v", name, err)
			}
			close(known)
			<-revoked
			if err := call(ctx, w); !errors.Is(err, ulfm.ErrRevoked) {
				t.Errorf("%s does not hear of the revocation: %v", name, err)
			}
		})
	}
}
