package comm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSpecC9EveryRankIsTold: ranks that wait for living ranks learn of an unrelated death, also a
// rank that did not set the mode; agree and shrink work, and a communicator without the dead member
// is not affected.
func TestSpecC9EveryRankIsTold(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		without, err := w.Split(ctx, bool2int(w.Rank() == 4), 0)
		ok(t, "split", err)
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if d.Rank() != 2 {
			d.SetUniform(true)
		}
		without.SetUniform(true)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		if w.Rank() == 4 {
			commtest.Kill(w)
		}
		next := (w.Rank() + 1) % 4
		err = receives["Recv"](ctx, d.From(next)) // which lives, and sends nothing
		want(t, "recv", err, ulfm.ErrRevoked)
		if !d.IsRevoked() || w.IsRevoked() || without.IsRevoked() {
			t.Errorf("rank %d: revoked: %v, parent %v, without the dead %v", w.Rank(), d.IsRevoked(), w.IsRevoked(), without.IsRevoked())
		}
		s, err := d.Shrink(ctx)
		ok(t, "shrink", err)
		works(ctx, t, s)
		works(ctx, t, without)
	})
}

// TestSpecC9TheModeIsInherited by the results of all calls, and can be reset.
func TestSpecC9TheModeIsInherited(t *testing.T) {
	const n = 4
	makers := map[string]func(ctx context.Context, w *comm.Comm) (*comm.Comm, error){
		"Dup":         func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Dup(ctx) },
		"Split":       func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Split(ctx, 0, 0) },
		"Create":      func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Create(ctx, w.Group()) },
		"CreateGroup": func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.CreateGroup(ctx, w.Group(), 0) },
		"Shrink":      func(ctx context.Context, w *comm.Comm) (*comm.Comm, error) { return w.Shrink(ctx) },
	}
	for name, make := range makers {
		commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
			d, err := w.Dup(ctx)
			ok(t, "dup", err)
			d.SetUniform(true)
			child, err := make(ctx, d)
			ok(t, name, err)
			d.SetUniform(false)
			_, err = w.Agree(ctx, 0) // all have it
			ok(t, "agree", err)
			killAndWatch(ctx, t, w, n-1)
			if !child.IsRevoked() || d.IsRevoked() || w.IsRevoked() {
				t.Errorf("%s, rank %d: revoked: %v, where it was taken back %v, where it was not set %v", name, w.Rank(), child.IsRevoked(), d.IsRevoked(), w.IsRevoked())
			}
			_, err = w.AgreeFailed(ctx) // all have polled
			ok(t, "agree", err)
			d.SetUniform(true) // the failure is known
			if !d.IsRevoked() {
				t.Errorf("%s, rank %d: not revoked by what is known", name, w.Rank())
			}
		})
	}
}

// TestUniformFromTheEnvironment, which adds to Config.
func TestUniformFromTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		env       string
		set, want bool
	}{{"", true, true}, {"", false, false}, {"1", false, true}, {"true", false, true}, {"0", false, false}, {"0", true, true}} {
		if c.env != "" {
			t.Setenv("GOULFM_UNIFORM", c.env)
		}
		got, err := comm.WithEnvironment(comm.Config{Uniform: c.set})
		if err != nil || got.Uniform != c.want {
			t.Errorf("%q and %v: %v, %v", c.env, c.set, got.Uniform, err)
		}
	}
	t.Setenv("GOULFM_UNIFORM", "perhaps")
	w, err := comm.Init(t.Context())
	var e *ulfm.Error
	if w != nil || !errors.As(err, &e) || e.Op != "init" {
		t.Errorf("%v, %v", w, err)
	}
}

// Two ranks that exchange messages only with each other learn that a third has died.
func ExampleComm_SetUniform() {
	ranks(3, func(ctx context.Context, w *comm.Comm) {
		w.SetUniform(true)
		if w.Rank() == 2 {
			commtest.Kill(w)
		}
		var err error
		for err == nil {
			_, err = comm.SendRecv(ctx, w.To(1-w.Rank()), []int{1}, w.From(1-w.Rank()), []int{0})
		}
		s, _ := w.Shrink(ctx)
		if w.Rank() == 0 {
			fmt.Println(errors.Is(err, ulfm.ErrRevoked), slices.Equal(s.Group().Processes(), []int{0, 1}))
		}
	})
	// Output: true true
}
