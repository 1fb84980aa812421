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

// TestSpecR8R46AnnouncedIsNotComplete: the sender dies when only the envelope of a long message has
// come. No probe reports that message, no receive takes it, and a shorter, complete message of the
// same sender with another tag is received.
func TestSpecR8R46AnnouncedIsNotComplete(t *testing.T) {
	announced := make(chan struct{})
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		switch w.Rank() {
		case 1:
			ok(t, "whole", comm.Send(ctx, w.To(0).Tag(1), []int{4}))
			_ = comm.Isend(w.To(0).Tag(2), make([]int, bulk))
			_ = comm.Issend(w.To(0).Tag(3), []int{1})
			close(announced)
			commtest.Kill(w)
		case 2:
			<-announced
			return
		}
		<-announced
		for tag := 1; tag <= 3; tag++ { // the envelopes are seen while the sender may live
			_, _, _ = comm.Iprobe(w.From(1).Tag(tag))
		}
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		for _, source := range []int{1, comm.Any} {
			for tag := 2; tag <= 3; tag++ {
				for call, f := range receives {
					err := f(ctx, w.From(source).Tag(tag))
					if call == "Irecv" || call == "Irecv, WaitAny" {
						if source == comm.Any && errors.Is(err, ulfm.ErrProcFailedPending) {
							continue
						}
					}
					want(t, call, err, ulfm.ErrProcFailed)
				}
			}
		}
		ok(t, "acknowledge", w.FailureAck())
		if st, found, err := comm.Iprobe(w.From(comm.Any).Tag(2)); found || err != nil {
			t.Errorf("a probe finds what cannot be received: %+v, %v", st, err)
		}
		in := []int{0}
		_, err := comm.Recv(ctx, w.From(comm.Any).Tag(1), in)
		if err != nil || in[0] != 4 {
			t.Errorf("the whole one: %d, %v", in[0], err)
		}
	})
}

// TestSpecR46R49SenderDiesAtEveryFrame of a long message to a wildcard receive. If the receive had
// matched, the request fails and names the sender. If not, the request is pending and,
// acknowledged, takes the message of another sender; or the whole message has come.
func TestSpecR46R49SenderDiesAtEveryFrame(t *testing.T) {
	const victim = 1
	seen := map[string]int{}
	for frame := uint64(1); !t.Failed(); frame++ {
		sent := make(chan struct{})
		came := commtest.RunKilled(t, 3, victim, frame, func(ctx context.Context, w *comm.Comm) {
			switch w.Rank() {
			case victim:
				_ = comm.Send(ctx, w.To(0), slices.Repeat([]int{1}, bulk))
				commtest.Kill(w)
			case 2:
				ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
				<-sent
				ok(t, "the other sender", comm.Send(ctx, w.To(0), slices.Repeat([]int{2}, bulk)))
				return
			}
			in := make([]int, bulk)
			r := comm.Irecv(w.From(comm.Any), in)
			st, err := r.Wait(ctx)
			close(sent)
			switch {
			case err == nil:
				if seen["complete"]++; st.Source != victim || slices.Contains(in, 0) {
					t.Errorf("frame %d: complete, %+v", frame, st)
				}
				in = make([]int, bulk)
				ok(t, "acknowledge", ackOne(ctx, w))
				r = comm.Irecv(w.From(comm.Any), in)
			case errors.Is(err, ulfm.ErrProcFailedPending):
				seen["pending"]++
				ok(t, "acknowledge", w.FailureAck())
			default:
				seen["failed"]++
				want(t, "matched", err, ulfm.ErrProcFailed)
				if st.Source != victim {
					t.Errorf("frame %d: failed, %+v, %v", frame, st, err)
				}
				ok(t, "acknowledge", w.FailureAck())
				r = comm.Irecv(w.From(comm.Any), in)
			}
			st, err = r.Wait(ctx)
			if err != nil || st.Source != 2 || slices.ContainsFunc(in, func(v int) bool { return v != 2 }) {
				t.Errorf("frame %d: from the other sender: %+v, %v", frame, st, err)
			}
		})
		if !came {
			break
		}
	}
	if seen["pending"] == 0 || seen["failed"]+seen["complete"] == 0 {
		t.Errorf("the deaths led to %v only", seen)
	}
}

// ackOne acknowledges the one death that must come.
func ackOne(ctx context.Context, w *comm.Comm) error {
	if err := commtest.AwaitFailure(ctx, w, 1); err != nil {
		return err
	}
	return w.FailureAck()
}

// TestSpecR13WithOneself: a revocation by any member also ends a wait of a process for itself.
func TestSpecR13WithOneself(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		me := d.Rank()
		rs := map[string]comm.Request{
			"issend": comm.Issend(d.To(me).Tag(1), []int{0}),
			"isend":  comm.Isend(d.To(me).Tag(2), make([]int, bulk)),
			"irecv":  comm.Irecv(d.From(me).Tag(3), []int{0}),
		}
		_, err = w.Agree(ctx, 0) // both have posted
		ok(t, "agree", err)
		if me == 0 {
			ok(t, "revoke", d.Revoke())
		}
		for call, r := range rs {
			want(t, call, waitFor(ctx, r), ulfm.ErrRevoked)
		}
	})
}

// TestSpecR35R37ManyIagreesAndADeath: more agreements than may be open at once; a member dies after
// having started half of them. Agreements without its part fail, and all agreements give the same
// result at all live members.
func TestSpecR35R37ManyIagreesAndADeath(t *testing.T) {
	const n, many, victim = 4, 40, 2
	var results ledger[[many]bool]
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		var flags [many]uint64
		var rs []comm.Request
		for i := range flags {
			if w.Rank() == victim && i == many/2 {
				commtest.Kill(w)
			}
			flags[i] = uint64(i)<<8 | 1<<w.Rank()
			rs = append(rs, w.Iagree(&flags[i]))
		}
		var failed [many]bool
		for i, r := range rs {
			err := waitFor(ctx, r)
			if failed[i] = err != nil; failed[i] {
				want(t, "iagree", err, ulfm.ErrProcFailed)
			}
			if flags[i] != uint64(i)<<8 {
				t.Errorf("agreement %d: flag %x", i, flags[i])
			}
			if i >= many/2 && !failed[i] {
				t.Errorf("agreement %d succeeds without a member", i)
			}
		}
		results.note(w.Rank(), failed)
	})
	results.uniform(t, same, 0, 1, 3)
}

// TestSpecR1R45SendRecvToTheDead: the call does not wait for the receive when the send can never
// complete; the receive is withdrawn, so its message is the next receive's.
func TestSpecR1R45SendRecvToTheDead(t *testing.T) {
	for _, during := range []bool{false, true} {
		for _, n := range []int{1, bulk} {
			if n == 1 && during {
				continue // that is buffered
			}
			posted, over := make(chan struct{}), make(chan struct{})
			commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
				switch w.Rank() {
				case 1:
					if during {
						<-posted
					}
					commtest.Kill(w)
				case 2:
					<-over
					ok(t, "send", comm.Send(ctx, w.To(0), []int{6}))
					return
				}
				if !during {
					ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
				}
				returned := make(chan error, 1)
				in := []int{0}
				go func() {
					_, err := comm.SendRecv(ctx, w.To(1), make([]int, n), w.From(2), in)
					returned <- err
				}()
				if during {
					until(ctx, t, "both halves", func() bool { return len(door.Engine(w).Proc().Waits()) == 2 })
					close(posted)
				}
				err := <-returned
				close(over)
				want(t, "sendrecv", err, ulfm.ErrProcFailed)
				wantRanks(t, err, 1)
				wantOp(t, err, "sendrecv")
				next := []int{0}
				_, err = comm.Recv(ctx, w.From(2), next)
				if err != nil || in[0] != 0 || next[0] != 6 {
					t.Errorf("SendRecv of %d received %d, the next receive %d, %v", n, in[0], next[0], err)
				}
			})
		}
	}
}

// TestSpecR1R46SendRecvFromTheDead: the call does not wait for the send when the receive can never
// complete; the send is withdrawn, so its buffer may be used again and no rank gets the message.
func TestSpecR1R46SendRecvFromTheDead(t *testing.T) {
	for _, source := range []int{1, comm.Any} {
		posted := make(chan struct{})
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			switch w.Rank() {
			case 1:
				<-posted
				commtest.Kill(w)
			case 2:
				_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
				ok(t, "sign", err)
				if st, found, err := comm.Iprobe(w.From(0).Tag(0)); found || err != nil {
					t.Errorf("the withdrawn send arrives: %+v, %v", st, err)
				}
				return
			}
			returned := make(chan error, 1)
			go func() {
				_, err := comm.SendRecv(ctx, w.To(2), make([]int, bulk), w.From(source), []int{0})
				returned <- err
			}()
			until(ctx, t, "both halves", func() bool { return len(door.Engine(w).Proc().Waits()) == 2 })
			close(posted)
			err := <-returned
			want(t, "sendrecv", err, ulfm.ErrProcFailed)
			wantRanks(t, err, 1)
			wantOp(t, err, "sendrecv")
			ok(t, "sign", comm.Send(ctx, w.To(2).Tag(1), []int{0}))
		})
	}
}

// TestSendRecvOfWhatDoesNotFit: the message has come, truncated, so the send continues.
func TestSendRecvOfWhatDoesNotFit(t *testing.T) {
	for _, n := range []int{2, bulk} {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				ok(t, "send", comm.Send(ctx, w.To(0), []int{1, 2, 3}))
				until(ctx, t, "the announcement", func() bool { _, found, err := comm.Iprobe(w.From(0)); return found || err != nil })
				out := make([]int, n)
				_, err := comm.Recv(ctx, w.From(0), out)
				if err != nil || out[n-1] != 9 {
					t.Errorf("%d, %v", out[n-1], err)
				}
				return
			}
			in := []int{0}
			st, err := comm.SendRecv(ctx, w.To(1), slices.Repeat([]int{9}, n), w.From(1), in)
			want(t, "sendrecv", err, comm.ErrTruncated)
			wantOp(t, err, "sendrecv")
			if in[0] != 1 || st.Count != 1 {
				t.Errorf("received %d, %+v", in[0], st)
			}
		})
	}
}

// TestSendRecvAcrossCommunicators of one world, and of two, which is refused with
// nothing sent.
func TestSendRecvAcrossCommunicators(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		r := comm.Irecv(w.From(0), make([]int, bulk))
		ok(t, "send", comm.Send(ctx, d.To(0), []int{4}))
		in := []int{0}
		_, err = comm.SendRecv(ctx, w.To(0), make([]int, bulk), d.From(0), in)
		ok(t, "sendrecv", err)
		ok(t, "wait", waitFor(ctx, r))
		if in[0] != 4 {
			t.Errorf("received %d", in[0])
		}
		other, err := comm.Init(ctx)
		ok(t, "init", err)
		_, err = comm.SendRecv(ctx, w.To(0), []int{1}, other.From(0), in)
		want(t, "two worlds", err, comm.ErrUnsupported)
		if st, found, err := comm.Iprobe(w.From(0)); found || err != nil {
			t.Errorf("it was sent: %+v, %v", st, err)
		}
		ok(t, "finalize", other.Finalize(ctx))
	})
}

// TestSpecR46LostMessageIsNotOvertaken: a sender dies after the envelope of a long message and a
// whole short message with the same tag have come. The first receive that names the sender fails,
// acknowledged or not, and the second one gets the short message. A receive from any rank gets the
// short message at once after an acknowledgement.
func TestSpecR46LostMessageIsNotOvertaken(t *testing.T) {
	for _, how := range []struct{ acknowledged, fromAny bool }{{false, false}, {true, false}, {true, true}} {
		sent := make(chan struct{})
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				long := comm.Isend(w.To(0), make([]int, bulk))
				_, over, _ := long.Test()
				assert.False(t, over)
				assert.NoError(t, comm.Send(ctx, w.To(0), []int{4}))
				close(sent)
				commtest.Kill(w)
			}
			<-sent
			ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
			in := make([]int, bulk)
			if how.acknowledged {
				assert.NoError(t, w.FailureAck())
			}
			if how.fromAny {
				st, err := comm.Recv(ctx, w.From(comm.Any), in)
				assert.NoError(t, err)
				assert.Equal(t, 1, st.Count)
				return
			}
			_, found, err := comm.Iprobe(w.From(1))
			assert.False(t, found, "a probe finds what is lost")
			assert.ErrorIs(t, err, ulfm.ErrProcFailed)
			_, err = comm.Recv(ctx, w.From(1), in)
			assert.ErrorIs(t, err, ulfm.ErrProcFailed)
			wantRanks(t, err, 1)
			st, err := comm.Recv(ctx, w.From(1), in)
			assert.NoError(t, err)
			assert.Equal(t, 1, st.Count)
			assert.Equal(t, 4, in[0])
		})
	}
}
