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

// ended returns a context that is over.
func ended(ctx context.Context) context.Context {
	over, cancel := context.WithCancel(ctx)
	cancel()
	return over
}

// whileWaiting calls f with a context that ends once f waits in the engine.
func whileWaiting(ctx context.Context, t *testing.T, w *comm.Comm, f func(ctx context.Context) error) error {
	t.Helper()
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	returned := make(chan error, 1)
	go func() { returned <- f(short) }()
	until(ctx, t, "the wait", func() bool { return len(door.Engine(w).Proc().Waits()) > 0 })
	cancel()
	return <-returned
}

// TestSpecContextReceive: before and during, the receive is withdrawn and the
// message stays for the next one.
func TestSpecContextReceive(t *testing.T) {
	for call, receive := range map[string]func(ctx context.Context, from comm.Source) error{
		"Recv": receives["Recv"], "RecvValue": receives["RecvValue"], "Probe": receives["Probe"], "Mprobe": receives["Mprobe"],
	} {
		for _, source := range []int{1, comm.Any} {
			commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
				if w.Rank() == 1 {
					_, err := comm.Recv(ctx, w.From(0), []int{0})
					ok(t, "sign", err)
					ok(t, "send", comm.Send(ctx, w.To(0).Tag(1), []int{6}))
					return
				}
				f := func(ctx context.Context) error { return receive(ctx, w.From(source).Tag(1)) }
				want(t, call+", over before", f(ended(ctx)), context.Canceled)
				err := whileWaiting(ctx, t, w, f)
				want(t, call+", over during", err, context.Canceled)
				if e := (*ulfm.Error)(nil); source == 1 && (!errors.As(err, &e) || !slices.Equal(e.Ranks, []int{1})) {
					t.Errorf("%s: %v does not name whom it waited for", call, err)
				}
				if waits := door.Engine(w).Proc().Waits(); len(waits) != 0 {
					t.Errorf("%s: still under way: %v", call, waits)
				}
				ok(t, "sign", comm.Send(ctx, w.To(1), []int{0}))
				in := []int{0}
				_, err = comm.Recv(ctx, w.From(1).Tag(1), in)
				if err != nil || in[0] != 6 {
					t.Errorf("%s: the next receive got %d, %v", call, in[0], err)
				}
			})
		}
	}
}

// TestSpecContextSend: if ctx ends before the call, nothing is sent; if ctx ends during the call,
// the send is withdrawn; a send that has matched completes regardless of ctx.
func TestSpecContextSend(t *testing.T) {
	waiting := map[string]func(ctx context.Context, to comm.Dest) error{
		"Send, long": func(ctx context.Context, to comm.Dest) error { return comm.Send(ctx, to, make([]int, bulk)) },
		"Ssend":      sends["Ssend"],
		"SendValue, long": func(ctx context.Context, to comm.Dest) error {
			return comm.SendValue(ctx, to, string(make([]byte, bulk)))
		},
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 0 {
			for call, f := range sends {
				if call == "Send" || call == "Ssend" || call == "SendValue" {
					want(t, call+", over before", f(ended(ctx), w.To(1)), context.Canceled)
				}
			}
			for call, f := range waiting {
				want(t, call+", over before", f(ended(ctx), w.To(1)), context.Canceled)
				want(t, call+", over during", whileWaiting(ctx, t, w, func(ctx context.Context) error { return f(ctx, w.To(1)) }), context.Canceled)
			}
			ok(t, "sign", comm.Send(ctx, w.To(1).Tag(1), []int{0}))
			return
		}
		_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
		ok(t, "sign", err)
		if st, found, err := comm.Iprobe(w.From(0).Tag(0)); found || err != nil {
			t.Errorf("a cancelled send is received: %+v, %v", st, err)
		}
	})
}

// TestSpecContextMatchedSend: the receive has matched, its data is under way, and
// the sender's context ends: the send succeeds.
func TestSpecContextMatchedSend(t *testing.T) {
	for range 20 {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				in := make([]int, bulk)
				r := comm.Irecv(w.From(0), in)
				ok(t, "sign", comm.Send(ctx, w.To(0), []int{0}))
				_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
				ok(t, "sign", err)
				// Only the sender's result decides whether the send was withdrawn.
				said := []bool{false}
				_, err = comm.Recv(ctx, w.From(0).Tag(2), said)
				ok(t, "what it said", err)
				if said[0] {
					ok(t, "the sender succeeded", waitFor(ctx, r))
				} else if !r.Cancel() {
					t.Error("the sender gave up, but the message has come")
				}
				return
			}
			_, err := comm.Recv(ctx, w.From(1), []int{0}) // the receive is posted
			ok(t, "sign", err)
			err = whileOrOver(ctx, w, func(ctx context.Context) error { return comm.Send(ctx, w.To(1), make([]int, bulk)) })
			if err != nil {
				want(t, "send", err, context.Canceled)
			}
			ok(t, "sign", comm.Send(ctx, w.To(1).Tag(1), []int{0}))
			ok(t, "say", comm.Send(ctx, w.To(1).Tag(2), []bool{err == nil}))
		})
	}
}

// whileOrOver calls f with a context that ends once f waits or has returned.
func whileOrOver(ctx context.Context, w *comm.Comm, f func(ctx context.Context) error) error {
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	returned := make(chan error, 1)
	go func() { returned <- f(short) }()
	for len(returned) == 0 && len(door.Engine(w).Proc().Waits()) == 0 {
	}
	cancel()
	return <-returned
}

// TestSpecContextSendRecv: a cancelled call is withdrawn, in both halves, and the error names both.
func TestSpecContextSendRecv(t *testing.T) {
	for _, during := range []bool{false, true} {
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			switch w.Rank() {
			case 1:
				_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
				ok(t, "sign", err)
				if st, found, err := comm.Iprobe(w.From(0).Tag(0)); found || err != nil {
					t.Errorf("during %v: the send of a cancelled SendRecv arrives: %+v, %v", during, st, err)
				}
				return
			case 2:
				_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
				ok(t, "sign", err)
				ok(t, "send", comm.Send(ctx, w.To(0), []int{8}))
				return
			}
			in := []int{0}
			f := func(ctx context.Context) error {
				_, err := comm.SendRecv(ctx, w.To(1), make([]int, bulk), w.From(2), in)
				return err
			}
			var err error
			if during {
				err = whileWaiting(ctx, t, w, f)
				wantRanks(t, err, 1, 2)
			} else {
				err = f(ended(ctx))
			}
			want(t, "sendrecv", err, context.Canceled)
			wantOp(t, err, "sendrecv")
			for peer := 1; peer <= 2; peer++ {
				ok(t, "sign", comm.Send(ctx, w.To(peer).Tag(1), []int{0}))
			}
			next := []int{0}
			_, err = comm.Recv(ctx, w.From(2), next)
			ok(t, "the next receive", err)
			if in[0] != 0 || next[0] != 8 {
				t.Errorf("during %v: the cancelled receive got %d, the next one %d", during, in[0], next[0])
			}
		})
	}
}

// TestSpecContextSendRecvHalfOver: the receive is over when ctx ends: its message stays received,
// the send is withdrawn, and the error names the receiver alone. With a send that has matched the
// roles are reversed.
func TestSpecContextSendRecvHalfOver(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			ok(t, "send", comm.Send(ctx, w.To(0), []int{7}))
			_, err := comm.Recv(ctx, w.From(0).Tag(1), []int{0})
			ok(t, "sign", err)
			if st, found, err := comm.Iprobe(w.From(0).Tag(0)); found || err != nil {
				t.Errorf("the withdrawn send arrives: %+v, %v", st, err)
			}
			out := make([]int, bulk)
			_, err = comm.Recv(ctx, w.From(0).Tag(2), out)
			if err != nil || out[bulk-1] != 3 {
				t.Errorf("the matched send brought %d, %v", out[bulk-1], err)
			}
			ok(t, "sign", comm.Send(ctx, w.To(0).Tag(3), []int{0}))
			return
		}
		until(ctx, t, "the message", func() bool { _, found, err := comm.Iprobe(w.From(1)); return found || err != nil })
		in := []int{0}
		var st comm.Status
		err := whileWaiting(ctx, t, w, func(ctx context.Context) (err error) {
			st, err = comm.SendRecv(ctx, w.To(1), make([]int, bulk), w.From(1), in)
			return err
		})
		want(t, "the send was withdrawn", err, context.Canceled)
		wantRanks(t, err, 1)
		if in[0] != 7 || st.Source != 1 || st.Count != 1 {
			t.Errorf("received %d, %+v", in[0], st)
		}
		ok(t, "sign", comm.Send(ctx, w.To(1).Tag(1), []int{0}))

		short, cancel := context.WithCancel(ctx)
		defer cancel()
		returned := make(chan error, 1)
		go func() {
			_, err := comm.SendRecv(short, w.To(1).Tag(2), slices.Repeat([]int{3}, bulk), w.From(comm.Any).Tag(9), in)
			returned <- err
		}()
		_, err = comm.Recv(ctx, w.From(1).Tag(3), []int{0}) // rank 1 has its message
		ok(t, "sign", err)
		cancel()
		err = <-returned
		want(t, "the receive was withdrawn", err, context.Canceled)
		wantOp(t, err, "sendrecv")
		if waits := door.Engine(w).Proc().Waits(); len(waits) != 0 {
			t.Errorf("still under way: %v", waits)
		}
	})
}

// wantOp checks which operation an error names.
func wantOp(t *testing.T, err error, op string) {
	t.Helper()
	var e *ulfm.Error
	if !errors.As(err, &e) || e.Op != op {
		t.Errorf("%v: want an error of %s", err, op)
	}
}

// TestSpecContextWait: the wait ends, the request stays active; a request that is over already is
// reported so, in any state of the context.
func TestSpecContextWait(t *testing.T) {
	calls := map[string]func(ctx context.Context, r comm.Request) error{
		"Wait":     func(ctx context.Context, r comm.Request) error { return waitFor(ctx, r) },
		"WaitAll":  func(ctx context.Context, r comm.Request) error { return comm.WaitAll(ctx, r) },
		"WaitAny":  func(ctx context.Context, r comm.Request) error { _, _, err := comm.WaitAny(ctx, r); return err },
		"WaitSome": func(ctx context.Context, r comm.Request) error { _, err := comm.WaitSome(ctx, nil, r); return err },
	}
	for call, f := range calls {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				_, err := comm.Recv(ctx, w.From(0), []int{0})
				ok(t, "sign", err)
				ok(t, "send", comm.Send(ctx, w.To(0), []int{6}))
				return
			}
			in := []int{0}
			r := comm.Irecv(w.From(1), in)
			want(t, call+", over before", f(ended(ctx), r), context.Canceled)
			short, cancel := context.WithCancel(ctx)
			returned := make(chan error, 1)
			go func() { returned <- f(short, r) }()
			cancel()
			want(t, call+", over during", <-returned, context.Canceled)
			ok(t, "sign", comm.Send(ctx, w.To(1), []int{0}))
			until(ctx, t, "the message", func() bool { return len(door.Engine(w).Proc().Waits()) == 0 || w.IsRevoked() })
			ok(t, call+", complete, over before", f(ended(ctx), r))
			if in[0] != 6 {
				t.Errorf("%s: received %d", call, in[0])
			}
		})
	}
}

// agreements are the calls that end in an agreement, as one member makes them: the part of a member
// distinguishes the agreements.
var agreements = map[string]func(ctx context.Context, w *comm.Comm, part uint64) (uint64, error){
	"Agree": func(ctx context.Context, w *comm.Comm, part uint64) (uint64, error) { return w.Agree(ctx, part) },
	"Split": func(ctx context.Context, w *comm.Comm, part uint64) (uint64, error) {
		c, err := w.Split(ctx, 0, -int(part)) // rank 0's place shows its key
		if err != nil {
			return 0, err
		}
		return uint64(c.Rank()), nil
	},
}

// TestSpecContextAgreementDuring: the contribution of a member that abandoned its wait stands, so
// no member waits for that one, and the numbers of later agreements match.
func TestSpecContextAgreementDuring(t *testing.T) {
	others := map[string]func(ctx context.Context, w *comm.Comm) error{
		"Agree": calls["Agree"], "AgreeFailed": calls["AgreeFailed"], "Shrink": calls["Shrink"],
		"Dup": calls["Dup"], "Split": calls["Split"], "SplitNode": calls["SplitNode"], "Create": calls["Create"],
		"CreateGroup": calls["CreateGroup"], "Cart": calls["Cart"], "Graph": calls["Graph"], "DistGraph": calls["DistGraph"],
	}
	for call, f := range others {
		gaveUp := make(chan struct{})
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 0 {
				err := whileWaiting(ctx, t, w, func(ctx context.Context) error { return f(ctx, w) })
				close(gaveUp)
				want(t, call, err, context.Canceled)
				if errors.Is(err, comm.ErrNotBegun) {
					t.Errorf("%s: %v, but it has contributed", call, err)
				}
			} else {
				<-gaveUp
				ok(t, call, f(ctx, w))
			}
			if w.IsRevoked() {
				t.Errorf("%s: the communicator is revoked", call)
			}
			ok(t, call+", the next", f(ctx, w))
			flag, err := w.Agree(ctx, 5)
			if flag != 5 || err != nil {
				t.Errorf("%s: agree afterwards: %d, %v", call, flag, err)
			}
		})
	}
}

// TestSpecContextAgreementBefore: with a context that is over when the call is made this member
// contributes nothing and uses no number: its next call matches the others' first call. The error
// distinguishes this from an abandoned wait.
func TestSpecContextAgreementBefore(t *testing.T) {
	for call, f := range agreements {
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				got, err := f(ctx, w, 7)
				ok(t, call, err)
				want := map[string]uint64{"Agree": 7 & 5, "Split": 1}[call] // key -7 comes behind -8, and before -6
				if got != want {
					t.Errorf("%s gave %d, want %d: it met the call whose context was over", call, got, want)
				}
				return
			}
			part := map[string][2]uint64{"Agree": {6, 5}, "Split": {6, 8}}[call]
			_, err := f(ended(ctx), w, part[0])
			want(t, call+", over before", err, context.Canceled)
			want(t, call+", over before", err, comm.ErrNotBegun)
			_, err = f(ctx, w, part[1])
			ok(t, call, err)
		})
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, call := range []string{"Agree", "AgreeFailed", "Shrink", "Dup", "Split", "SplitNode", "Create", "CreateGroup", "Cart", "Graph", "DistGraph"} {
			want(t, call, calls[call](ended(ctx), w), comm.ErrNotBegun)
		}
		if waits := door.Engine(w).Proc().Waits(); len(waits) != 0 {
			t.Errorf("under way: %v", waits)
		}
	})
}

// TestSpecContextNamesWhomItWaitedFor: the error of a context that ended names the ranks that the
// call waited for.
func TestSpecContextNamesWhomItWaitedFor(t *testing.T) {
	single := map[string]bool{}
	for _, call := range []string{"Recv", "Irecv", "Probe", "Ssend", "SendRecv", "WaitAll", "WaitAny", "WaitSome"} {
		single[call] = true
	}
	request := func(w *comm.Comm) comm.Request { return comm.Irecv(w.From(1), []int{0}) }
	for call, f := range map[string]func(ctx context.Context, w *comm.Comm) error{
		"Recv":  func(ctx context.Context, w *comm.Comm) error { return receives["Recv"](ctx, w.From(1)) },
		"Irecv": func(ctx context.Context, w *comm.Comm) error { return receives["Irecv"](ctx, w.From(1)) },
		"Probe": func(ctx context.Context, w *comm.Comm) error { return receives["Probe"](ctx, w.From(1)) },
		"Ssend": func(ctx context.Context, w *comm.Comm) error { return sends["Ssend"](ctx, w.To(1)) },
		"SendRecv": func(ctx context.Context, w *comm.Comm) error {
			_, err := comm.SendRecv(ctx, w.To(1), make([]int, bulk), w.From(1), []int{0})
			return err
		},
		"WaitAll": func(ctx context.Context, w *comm.Comm) error { return comm.WaitAll(ctx, request(w), request(w)) },
		"WaitAny": func(ctx context.Context, w *comm.Comm) error { _, _, err := comm.WaitAny(ctx, request(w)); return err },
		"WaitSome": func(ctx context.Context, w *comm.Comm) error {
			_, err := comm.WaitSome(ctx, nil, request(w))
			return err
		},
		"Agree":        calls["Agree"],
		"AgreeFailed":  calls["AgreeFailed"],
		"Dup":          calls["Dup"],
		"Split":        calls["Split"],
		"Create":       calls["Create"],
		"CreateGroup":  calls["CreateGroup"],
		"Shrink":       calls["Shrink"],
		"Iagree":       calls["Iagree"],
		"Ishrink":      calls["Ishrink"],
		"IagreeFailed": calls["IagreeFailed"],
	} {
		gaveUp := make(chan struct{})
		commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() == 1 {
				<-gaveUp
				if !single[call] {
					ok(t, call, f(ctx, w))
				}
				return
			}
			err := whileWaiting(ctx, t, w, func(ctx context.Context) error { return f(ctx, w) })
			close(gaveUp)
			want(t, call, err, context.Canceled)
			var e *ulfm.Error
			if !errors.As(err, &e) || !slices.Equal(e.Ranks, []int{1}) || e.Comm != "world" {
				t.Errorf("%s: %q does not name rank 1 of the world", call, err)
			}
		})
	}
}

// TestSpecContextFinalize: before and during, the part in the last agreement stands, so the others
// return; a member that abandoned the wait may call Finalize again, any number of times, and wait
// for the end.
func TestSpecContextFinalize(t *testing.T) {
	for _, during := range []bool{false, true} {
		gaveUp := make(chan struct{})
		commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() != 0 {
				<-gaveUp
				ok(t, "finalize", w.Finalize(ctx))
				return
			}
			for range 3 {
				var err error
				if during {
					err = whileWaiting(ctx, t, w, w.Finalize)
				} else {
					err = w.Finalize(ended(ctx))
				}
				want(t, "finalize", err, context.Canceled)
				wantRanks(t, err, 1, 2)
			}
			close(gaveUp)
			ok(t, "finalize after one that was given up", w.Finalize(ctx))
			want(t, "finalize once more", w.Finalize(ctx), comm.ErrFinalized)
		})
	}
}

// TestFinalizeTwiceAtOnce: a second goroutine gets the error that Finalize is under way.
func TestFinalizeTwiceAtOnce(t *testing.T) {
	second := make(chan struct{})
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			<-second
			return
		}
		returned := make(chan error, 1)
		go func() { returned <- w.Finalize(ctx) }()
		until(ctx, t, "the wait", func() bool { return len(door.Engine(w).Proc().Waits()) > 0 })
		want(t, "finalize", w.Finalize(ctx), comm.ErrUnsupported)
		close(second)
		ok(t, "finalize", <-returned)
	})
}

// TestSpecContextInit: a context that is over before gives no world.
func TestSpecContextInit(t *testing.T) {
	w, err := comm.Init(ended(t.Context()))
	want(t, "init", err, context.Canceled)
	if w != nil {
		t.Error("there is a world")
	}
}
