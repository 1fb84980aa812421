package comm_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestHandlerIsToldOfEveryErrorOnce, of its own communicator alone.
func TestHandlerIsToldOfEveryErrorOnce(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		var told []error
		d.SetErrorHandler(func(c *comm.Comm, err error) error {
			if c != d {
				t.Error("told of another communicator")
			}
			told = append(told, err)
			return err
		})
		check := func(call string, err error) {
			t.Helper()
			if len(told) != 1 || !errors.Is(err, told[0]) {
				t.Errorf("%s returned %v, the handler was told %v", call, err, told)
			}
			told = nil
		}
		for call, f := range sends {
			check(call, f(ctx, d.To(7)))
		}
		for call, f := range receives {
			check(call, f(ctx, d.From(7)))
		}
		_, err = comm.SendRecv(ctx, d.To(7), []int{0}, d.From(7), []int{0})
		check("SendRecv", err)
		_, err = d.AckFailed(9)
		check("AckFailed", err)
		_, err = d.Split(ctx, -5, 0)
		check("Split", err)
		check("Iagree", waitFor(ctx, d.Iagree(nil)))
		r := comm.Irecv(d.From(0), []int{0})
		ok(t, "send", comm.Send(ctx, d.To(0), []int{1, 2}))
		check("Irecv, truncated", waitFor(ctx, r))
		check("inactive", waitFor(ctx, r))
		want(t, "another communicator", comm.Send(ctx, w.To(9), []int{0}), comm.ErrRank)
		ok(t, "no error", comm.Send(ctx, d.To(comm.None), []int{0}))
		if len(told) != 0 {
			t.Errorf("told of %v", told)
		}
	})
}

// TestHandlerDecidesWhatIsReturned, is inherited, and nil means ErrorsReturn.
func TestHandlerDecidesWhatIsReturned(t *testing.T) {
	other := errors.New("mine")
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		d.SetErrorHandler(func(*comm.Comm, error) error { return other })
		e, err := d.Dup(ctx)
		ok(t, "dup", err)
		s, err := d.Split(ctx, 0, 0)
		ok(t, "split", err)
		for _, c := range []*comm.Comm{d, e, s} {
			if err := comm.Send(ctx, c.To(9), []int{0}); err != other {
				t.Errorf("returned %v", err)
			}
		}
		e.SetErrorHandler(nil)
		s.SetErrorHandler(comm.ErrorsReturn)
		for _, c := range []*comm.Comm{e, s, w} {
			want(t, "returned", comm.Send(ctx, c.To(9), []int{0}), comm.ErrRank)
		}
	})
}

// TestSpecR5HandlerMayRepair: a handler revokes, acknowledges and shrinks the communicator of the
// error.
func TestSpecR5HandlerMayRepair(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		var repaired *comm.Comm
		w.SetErrorHandler(func(c *comm.Comm, err error) error {
			if repaired != nil || !ulfm.Recoverable(err) {
				return err
			}
			ok(t, "acknowledge", c.FailureAck())
			ok(t, "revoke", c.Revoke())
			var e error
			repaired, e = c.Shrink(ctx)
			ok(t, "shrink", e)
			return nil
		})
		if w.Rank() == 1 {
			commtest.Kill(w)
		}
		in := []int{0}
		_, err := comm.Recv(ctx, w.From(1), in)
		ok(t, "the handler swallowed it", err)
		if repaired == nil || repaired.Size() != 3 {
			t.Errorf("rank %d: repaired: %v", w.Rank(), repaired)
			return
		}
		works(ctx, t, repaired)
	})
}

// TestAbortingHandlersEndTheProcess with code 1, and print the reason; Abort ends the process with
// its own code. They are tested in a process of their own: this test, started again.
func TestAbortingHandlersEndTheProcess(t *testing.T) {
	const key = "COMM_TEST_ABORT"
	handlers := map[string]comm.ErrorHandler{"abort": comm.ErrorsAbort, "fatal": comm.ErrorsFatal}
	if name := os.Getenv(key); name != "" {
		ctx := context.Background()
		w, err := comm.Init(ctx)
		ok(t, "init", err)
		if name == "code" {
			w.Abort(42)
		}
		w.SetErrorHandler(handlers[name])
		_ = comm.Send(ctx, w.To(7), []int{0})
		t.Fatal("still there")
	}
	for _, c := range []struct {
		name string
		code int
		says string
	}{
		{"abort", 1, "rank 0: send on world: rank out of range"},
		{"fatal", 1, "rank 0: send on world: rank out of range"},
		{"code", 42, ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAbortingHandlersEndTheProcess$")
		cmd.Env = append(os.Environ(), key+"="+c.name)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: %v, it said %q", c.name, err, out)
		}
	}
}

// TestErrorsAreOneLine that names operation, communicator, ranks and class.
func TestErrorsAreOneLine(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 1, 2)
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		d, err := s.Dup(ctx)
		ok(t, "dup", err)
		for _, c := range []struct {
			err  error
			text string
		}{
			{comm.Send(ctx, w.To(2), []int{0}), "send on world to rank 2: process failed"},
			{receives["Recv"](ctx, w.From(1)), "recv on world from rank 1: process failed"},
			{receives["RecvValue"](ctx, w.From(1)), "recv_value on world with rank 1: process failed"},
			{comm.Send(ctx, s.To(1), []int{0}), "send on world#1: rank out of range: 1 in a communicator of 1"},
			{receives["Probe"](ctx, d.From(0).Tag(-3)), "probe on dup of world#1: tag out of range: -3: want 0 to 2147483647, or Any"},
			{comm.Send(ctx, comm.Dest{}, []int{0}), "send: bad argument: nil communicator"},
			{&comm.MultiError{Errs: []error{nil, errors.New("a"), nil, errors.New("b"), errors.New("c")}}, "a (and 2 more)"},
			{&comm.MultiError{Errs: []error{nil, errors.New("a")}}, "a"},
			{&comm.MultiError{Errs: []error{nil}}, "no error"},
		} {
			if c.err == nil || c.err.Error() != c.text {
				t.Errorf("%v\nwant %s", c.err, c.text)
			}
		}
	})
}

// TestHandlerHoldsNothing: a handler runs with no lock held. Another goroutine can make any kind of
// call during the handler, and after a panic in the handler the communicator still works.
func TestHandlerHoldsNothing(t *testing.T) {
	commtest.Run(t, 1, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		assert.NoError(t, err)
		told := 0
		d.SetErrorHandler(func(c *comm.Comm, _ error) error {
			told++
			done := make(chan struct{})
			go func() {
				defer close(done)
				works(ctx, t, w)
				c.IsRevoked()
				_, err := w.Agree(ctx, 1)
				assert.NoError(t, err)
			}()
			<-done
			panic("handler")
		})
		panics := func(call string, f func()) {
			t.Helper()
			before := told
			assert.PanicsWithValue(t, "handler", f, call)
			assert.Equal(t, before+1, told, call)
		}
		for call, f := range sends {
			panics(call, func() { _ = f(ctx, d.To(7)) })
		}
		for call, f := range receives {
			panics(call, func() { _ = f(ctx, d.From(7)) })
		}
		panics("Split", func() { _, _ = d.Split(ctx, -5, 0) })
		panics("Create", func() { _, _ = d.Create(ended(ctx), d.Group()) })
		panics("AckFailed", func() { _, _ = d.AckFailed(9) })
		panics("Agree", func() { _, _ = d.Agree(ended(ctx), 1) })

		r := comm.Irecv(d.From(0), []int{0})
		assert.NoError(t, comm.Send(ctx, d.To(0), []int{1, 2}))
		panics("Wait", func() { _, _ = r.Wait(ctx) })
		panics("inactive", func() { _, _, _ = r.Test() })
		p := comm.RecvInit(d.From(0), []int{0})
		assert.NoError(t, p.Start())
		panics("Start", func() { _ = p.Start() })
		assert.NoError(t, comm.Send(ctx, d.To(0), []int{1, 2}))
		panics("WaitAll", func() { _ = comm.WaitAll(ctx, p) })
		assert.NoError(t, p.Free())
		d.SetErrorHandler(nil)
		works(ctx, t, d)

		assert.NoError(t, d.Revoke())
		d.SetErrorHandler(func(*comm.Comm, error) error { panic("handler") })
		assert.PanicsWithValue(t, "handler", func() { _ = comm.Send(ctx, d.To(0), []int{1}) })
		assert.NoError(t, d.Free())
	})
}
