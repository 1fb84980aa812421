package comm_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// want fails the test unless err is of a class and wrapped as every error is.
func want(t *testing.T, what string, err, class error) {
	t.Helper()
	if !errors.Is(err, class) {
		t.Errorf("%s: %v, want %v", what, err, class)
		return
	}
	if e := (*ulfm.Error)(nil); !errors.As(err, &e) || e.Op == "" {
		t.Errorf("%s: %T is not a *ulfm.Error with an operation", what, err)
	}
}

// ok fails the test with an error.
func ok(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func waitFor(ctx context.Context, r comm.Request) error {
	_, err := r.Wait(ctx)
	return err
}

// sends are the calls that take a Dest.
var sends = map[string]func(ctx context.Context, to comm.Dest) error{
	"Send":      func(ctx context.Context, to comm.Dest) error { return comm.Send(ctx, to, []int{1}) },
	"Ssend":     func(ctx context.Context, to comm.Dest) error { return comm.Ssend(ctx, to, []int{1}) },
	"SendValue": func(ctx context.Context, to comm.Dest) error { return comm.SendValue(ctx, to, "v") },
	"Isend":     func(ctx context.Context, to comm.Dest) error { return waitFor(ctx, comm.Isend(to, []int{1})) },
	"Issend":    func(ctx context.Context, to comm.Dest) error { return waitFor(ctx, comm.Issend(to, []int{1})) },
	"Isend, Test": func(_ context.Context, to comm.Dest) error {
		_, _, err := comm.Isend(to, []int{1}).Test()
		return err
	},
	"Isend, WaitAll": func(ctx context.Context, to comm.Dest) error { return comm.WaitAll(ctx, comm.Isend(to, []int{1})) },
	"Isend, WaitAny": func(ctx context.Context, to comm.Dest) error {
		_, _, err := comm.WaitAny(ctx, comm.Isend(to, []int{1}))
		return err
	},
	"Isend, WaitSome": func(ctx context.Context, to comm.Dest) error {
		_, err := comm.WaitSome(ctx, nil, comm.Isend(to, []int{1}))
		return err
	},
	"Isend, TestAll": func(_ context.Context, to comm.Dest) error {
		_, err := comm.TestAll(comm.Isend(to, []int{1}))
		return err
	},
}

// receives are the calls that take a Source.
var receives = map[string]func(ctx context.Context, from comm.Source) error{
	"Recv": func(ctx context.Context, from comm.Source) error {
		_, err := comm.Recv(ctx, from, []int{0})
		return err
	},
	"RecvValue": func(ctx context.Context, from comm.Source) error {
		_, _, err := comm.RecvValue[string](ctx, from)
		return err
	},
	"Irecv": func(ctx context.Context, from comm.Source) error { return waitFor(ctx, comm.Irecv(from, []int{0})) },
	"Irecv, WaitAny": func(ctx context.Context, from comm.Source) error {
		_, _, err := comm.WaitAny(ctx, comm.Irecv(from, []int{0}))
		return err
	},
	"Probe": func(ctx context.Context, from comm.Source) error {
		_, err := comm.Probe(ctx, from)
		return err
	},
	"Mprobe": func(ctx context.Context, from comm.Source) error {
		m, _, err := comm.Mprobe(ctx, from)
		if err != nil {
			return err
		}
		_, err = comm.Mrecv(ctx, m, []int{0})
		return err
	},
	"Iprobe": func(_ context.Context, from comm.Source) error {
		_, _, err := comm.Iprobe(from)
		return err
	},
}

// calls are the methods of a communicator itself.
var calls = map[string]func(ctx context.Context, c *comm.Comm) error{
	"Dup": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Dup(ctx)
		return err
	},
	"Split": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Split(ctx, 0, 0)
		return err
	},
	"Split, bad colour": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Split(ctx, -5, 0)
		return err
	},
	"SplitNode": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.SplitNode(ctx)
		return err
	},
	"Create": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Create(ctx, c.Group())
		return err
	},
	"CreateGroup": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.CreateGroup(ctx, c.Group(), 0)
		return err
	},
	"Cart": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Cart(ctx, []int{1}, []bool{true}, false)
		return err
	},
	"Graph": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Graph(ctx, [][]int{{0}})
		return err
	},
	"DistGraph": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.DistGraph(ctx, nil, nil)
		return err
	},
	"Shrink": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Shrink(ctx)
		return err
	},
	"Ishrink": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Ishrink().Wait(ctx)
		return err
	},
	"Ishrink, Test": func(_ context.Context, c *comm.Comm) error {
		_, _, err := c.Ishrink().Test()
		return err
	},
	"IagreeFailed": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.IagreeFailed().Wait(ctx)
		return err
	},
	"Agree": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.Agree(ctx, 1)
		return err
	},
	"AgreeFailed": func(ctx context.Context, c *comm.Comm) error {
		_, err := c.AgreeFailed(ctx)
		return err
	},
	"Iagree": func(ctx context.Context, c *comm.Comm) error {
		flag := uint64(1)
		return waitFor(ctx, c.Iagree(&flag))
	},
	"Revoke": func(_ context.Context, c *comm.Comm) error { return c.Revoke() },
	"AckFailed": func(_ context.Context, c *comm.Comm) error {
		_, err := c.AckFailed(0)
		return err
	},
	"FailureAck": func(_ context.Context, c *comm.Comm) error { return c.FailureAck() },
	"Free":       func(_ context.Context, c *comm.Comm) error { return c.Free() },
}

// works checks that messages still circulate.
func works(ctx context.Context, t *testing.T, c *comm.Comm) {
	t.Helper()
	next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	in := []int{-1}
	_, err := comm.SendRecv(ctx, c.To(next).Tag(99), []int{c.Rank()}, c.From(prev).Tag(99), in)
	if err != nil || in[0] != prev {
		t.Errorf("rank %d: the communicator does not work any more: %v, got %d", c.Rank(), err, in[0])
	}
}

func TestWrongEndpointsGiveTypedErrors(t *testing.T) {
	dests := []struct {
		name  string
		to    func(w *comm.Comm) comm.Dest
		class error
	}{
		{"rank n", func(w *comm.Comm) comm.Dest { return w.To(2) }, comm.ErrRank},
		{"rank Any", func(w *comm.Comm) comm.Dest { return w.To(comm.Any) }, comm.ErrRank},
		{"rank -3", func(w *comm.Comm) comm.Dest { return w.To(-3) }, comm.ErrRank},
		{"rank largest", func(w *comm.Comm) comm.Dest { return w.To(math.MaxInt) }, comm.ErrRank},
		{"rank smallest", func(w *comm.Comm) comm.Dest { return w.To(math.MinInt) }, comm.ErrRank},
		{"tag Any", func(w *comm.Comm) comm.Dest { return w.To(0).Tag(comm.Any) }, comm.ErrTag},
		{"tag too large", func(w *comm.Comm) comm.Dest { return w.To(0).Tag(1 << 31) }, comm.ErrTag},
		{"None, tag too large", func(w *comm.Comm) comm.Dest { return w.To(comm.None).Tag(1 << 31) }, comm.ErrRank},
		{"no communicator", func(*comm.Comm) comm.Dest { return comm.Dest{} }, comm.ErrArgument},
		{"nil communicator", func(*comm.Comm) comm.Dest { return (*comm.Comm)(nil).To(0) }, comm.ErrArgument},
		{"nil communicator, None", func(*comm.Comm) comm.Dest { return (*comm.Comm)(nil).To(comm.None) }, comm.ErrArgument},
	}
	sources := []struct {
		name  string
		from  func(w *comm.Comm) comm.Source
		class error
	}{
		{"rank n", func(w *comm.Comm) comm.Source { return w.From(2) }, comm.ErrRank},
		{"rank -3", func(w *comm.Comm) comm.Source { return w.From(-3) }, comm.ErrRank},
		{"rank largest", func(w *comm.Comm) comm.Source { return w.From(math.MaxInt) }, comm.ErrRank},
		{"tag -2", func(w *comm.Comm) comm.Source { return w.From(0).Tag(-2) }, comm.ErrTag},
		{"any rank, tag too large", func(w *comm.Comm) comm.Source { return w.From(comm.Any).Tag(1 << 31) }, comm.ErrTag},
		{"no communicator", func(*comm.Comm) comm.Source { return comm.Source{} }, comm.ErrArgument},
		{"nil communicator", func(*comm.Comm) comm.Source { return (*comm.Comm)(nil).From(comm.Any) }, comm.ErrArgument},
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		for _, d := range dests {
			for call, f := range sends {
				want(t, call+" to "+d.name, f(ctx, d.to(w)), d.class)
			}
		}
		for _, s := range sources {
			for call, f := range receives {
				want(t, call+" from "+s.name, f(ctx, s.from(w)), s.class)
			}
		}
		works(ctx, t, w)
	})
}

// TestSendRecvChecksBothEndpointsFirst: with a wrong receiver the call would otherwise wait for a
// message that is useless to it; with a wrong sender the call would have sent already.
func TestSendRecvChecksBothEndpointsFirst(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		_, err := comm.SendRecv(ctx, w.To(9), []int{1}, w.From(0), []int{0})
		want(t, "wrong receiver", err, comm.ErrRank)
		_, err = comm.SendRecv(ctx, w.To(0), []int{1}, w.From(0).Tag(-7), []int{0})
		want(t, "wrong source tag", err, comm.ErrTag)
		if _, sent, err := comm.Iprobe(w.From(comm.Any).Tag(comm.Any)); sent || err != nil {
			t.Errorf("a call with a wrong argument has sent: %v", err)
		}
	})
}

func TestOtherWrongArguments(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		for _, n := range []int{-1, 4, math.MaxInt, math.MinInt} {
			acked, err := w.AckFailed(n)
			want(t, "AckFailed", err, comm.ErrArgument)
			if acked != 0 {
				t.Errorf("AckFailed(%d) acknowledged %d", n, acked)
			}
		}
		want(t, "Iagree of no flag", waitFor(ctx, w.Iagree(nil)), comm.ErrBuffer)
		want(t, "Free of the world", w.Free(), comm.ErrUnsupported)
		want(t, "statuses", comm.WaitAllStatus(ctx, make([]comm.Status, 2), comm.Request{}), comm.ErrLength)
		_, err := w.Group().Incl(3)
		want(t, "Incl out of range", err, comm.ErrRank)
		_, err = w.Group().Incl(1, 1)
		want(t, "Incl twice", err, comm.ErrRank)
		_, err = w.Group().Excl(-1)
		want(t, "Excl", err, comm.ErrRank)
		_, err = w.Group().Translate(w.Group(), 0, 3)
		want(t, "Translate", err, comm.ErrRank)
		_, err = comm.Bytes([]*int{nil})
		want(t, "Bytes of pointers", err, comm.ErrType)
		_, err = comm.Bytes([]string{""})
		want(t, "Bytes of strings", err, comm.ErrType)
		works(ctx, t, w)

		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		want(t, "Finalize of another communicator", d.Finalize(ctx), comm.ErrUnsupported)
		ok(t, "free", d.Free())
	})
}

// TestValuesThatGobRefuses: an error, and nothing is sent.
func TestValuesThatGobRefuses(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		want(t, "channel", comm.SendValue(ctx, w.To(0), make(chan int)), comm.ErrType)
		want(t, "function", comm.SendValue(ctx, w.To(0), func() {}), comm.ErrType)
		want(t, "nothing exported", comm.SendValue(ctx, w.To(0), struct{ a int }{1}), comm.ErrType)
		if _, sent, _ := comm.Iprobe(w.From(0).Tag(comm.Any)); sent {
			t.Error("a refused value was sent")
		}
		// Nil is a value of its type: nil arrives as such, or is refused, without a panic.
		if err := comm.SendValue[*int](ctx, w.To(0), nil); err == nil {
			v, _, err := comm.RecvValue[*int](ctx, w.From(0))
			if err == nil && v != nil {
				t.Errorf("a nil pointer arrived as %v", v)
			}
		}
		if err := comm.SendValue[error](ctx, w.To(0), nil); err == nil {
			v, _, err := comm.RecvValue[error](ctx, w.From(0))
			if err == nil && v != nil {
				t.Errorf("a nil interface arrived as %v", v)
			}
		}
	})
}

func TestContextThatIsOverStartsNothing(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		over, cancel := context.WithCancel(ctx)
		cancel()
		for _, call := range []string{"Send", "Ssend", "SendValue"} {
			want(t, call, sends[call](over, w.To(0)), context.Canceled)
		}
		for _, call := range []string{"Recv", "RecvValue", "Irecv", "Probe"} {
			want(t, call, receives[call](over, w.From(0).Tag(5)), context.Canceled)
		}
		if _, sent, _ := comm.Iprobe(w.From(comm.Any)); sent {
			t.Error("sent although the context was over")
		}
		// The Irecv above is still posted, as Wait reports: it takes this message.
		ok(t, "send", comm.Send(ctx, w.To(w.Rank()).Tag(5), []int{1}))
		works(ctx, t, w)
	})
}

// TestFreedCommunicator: every call of a freed communicator returns ErrFreed; queries that need no
// other member are still answered, and the parent works.
func TestFreedCommunicator(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		posted := comm.Irecv(d.From(comm.Any), []int{0})
		ok(t, "free", d.Free())
		want(t, "a receive posted before", waitFor(ctx, posted), comm.ErrFreed)
		allAre(ctx, t, d, comm.ErrFreed)
		if d.Size() != 2 || d.Rank() != w.Rank() || !d.Group().Equal(w.Group()) || d.GetFailed().Size() != 0 || d.FailureGetAcked().Size() != 0 || d.IsRevoked() {
			t.Error("local questions of a freed communicator have other answers")
		}
		works(ctx, t, w)
	})
}

func TestFinalizedWorld(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		ok(t, "finalize", w.Finalize(ctx))
		allAre(ctx, t, w, comm.ErrFinalized)
		allAre(ctx, t, d, comm.ErrFinalized)
		want(t, "Finalize again", w.Finalize(ctx), comm.ErrFinalized)
		if w.Size() != 2 || w.GetFailed().Size() != 0 || w.IsRevoked() {
			t.Error("local questions after Finalize have other answers")
		}
	})
}

// allAre checks that every call of c returns the class.
func allAre(ctx context.Context, t *testing.T, c *comm.Comm, class error) {
	t.Helper()
	for call, f := range sends {
		want(t, call, f(ctx, c.To(0)), class)
	}
	for call, f := range receives {
		want(t, call, f(ctx, c.From(0)), class)
	}
	for call, f := range calls {
		want(t, call, f(ctx, c), class)
	}
	_, err := comm.SendRecv(ctx, c.To(0), []int{1}, c.From(0), []int{0})
	want(t, "SendRecv", err, class)
	_, err = comm.SendRecvReplace(ctx, c.To(0), c.From(0), []int{1})
	want(t, "SendRecvReplace", err, class)
}

// TestKilledRank: its calls return ErrFenced in every goroutine it has.
func TestKilledRank(t *testing.T) {
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			defer func() {
				allAre(ctx, t, w, comm.ErrFenced)
				want(t, "Finalize", w.Finalize(ctx), comm.ErrFenced)
			}()
			commtest.Kill(w)
		}
	})
}
