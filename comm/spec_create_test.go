package comm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/transport/inproc"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSpecR56C3OneOutcomeForAll: a member that votes no, and a death known to one member and
// unknown to another, fail the creation for all alike, though a second creation follows at once.
func TestSpecR56C3OneOutcomeForAll(t *testing.T) {
	for _, n := range []int{2, 3, 5, 8} {
		for odd := range n {
			var classes ledger[string]
			commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
				color := 0
				if w.Rank() == odd {
					color = -1
				}
				s, err := w.Split(ctx, color, 0)
				class := comm.ErrPeerArgument
				if w.Rank() == odd {
					class = comm.ErrArgument
				}
				want(t, "split", err, class)
				if s != nil {
					t.Error("a communicator was made")
				}
				d, err := w.Dup(ctx)
				ok(t, "dup", err)
				works(ctx, t, d)
				if _, err := w.Agree(ctx, 0); err != nil { // all have made it
					t.Error(err)
				}
				if w.Rank() == n-1 {
					commtest.Kill(w)
				}
				if w.Rank() == 0 && n > 2 {
					ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
				}
				s, err = w.Dup(ctx)
				want(t, "dup with a dead member", err, ulfm.ErrProcFailed)
				wantRanks(t, err, n-1)
				classes.note(w.Rank(), fmt.Sprint(s == nil, err))
			})
			alive := make([]int, n-1)
			for r := range alive {
				alive[r] = r
			}
			classes.uniform(t, same, alive...)
		}
	}
}

// TestSpecR3R56FailuresElsewhere: a creation on a communicator without the dead
// succeeds.
func TestSpecR3R56FailuresElsewhere(t *testing.T) {
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		half, err := w.Split(ctx, w.Rank()/3, 0)
		ok(t, "split", err)
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		killAndWatch(ctx, t, w, 4)
		if w.Rank() == 3 {
			return
		}
		d, err := half.Dup(ctx)
		ok(t, "dup", err)
		s, err := half.Split(ctx, 0, -half.Rank())
		ok(t, "split", err)
		works(ctx, t, d)
		works(ctx, t, s)
	})
}

// TestSpecR38KnownBeforeIsExcluded: a death that raised an error at one member alone before the
// call is excluded from the result of Shrink, at any member; R39: the rest keeps its order.
func TestSpecR38KnownBeforeIsExcluded(t *testing.T) {
	for knows := range 4 {
		commtest.Run(t, 6, func(ctx context.Context, w *comm.Comm) {
			if w.Rank() >= 4 {
				commtest.Kill(w)
			}
			if w.Rank() == knows {
				for _, victim := range []int{4, 5} {
					want(t, "recv", receives["Recv"](ctx, w.From(victim)), ulfm.ErrProcFailed)
				}
			}
			s, err := w.Shrink(ctx)
			ok(t, "shrink", err)
			if got := s.Group().Processes(); !slices.Equal(got, []int{0, 1, 2, 3}) || s.Rank() != w.Rank() {
				t.Errorf("rank %d of %v", s.Rank(), got)
			}
		})
	}
}

// TestSpecR41DeadInTheShrunkAreFound: a member that dies after its part may be a member of the new
// communicator; operations there report the death, and a second shrink excludes that member (A20).
func TestSpecR41DeadInTheShrunkAreFound(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 3 { // this member gives its part and dies
			_ = whileOrOver(ctx, w, func(ctx context.Context) error { _, err := w.Shrink(ctx); return err })
			commtest.Kill(w)
		}
		s, err := w.Shrink(ctx)
		ok(t, "shrink", err)
		ok(t, "deaths", commtest.AwaitFailure(ctx, w, 1))
		if s.Size() == 4 {
			want(t, "send", comm.Send(ctx, s.To(3), []int{0}), ulfm.ErrProcFailed)
			if got := s.GetFailed().Processes(); !slices.Equal(got, []int{3}) {
				t.Errorf("failed in the new one: %v", got)
			}
		}
		again, err := s.Shrink(ctx)
		ok(t, "shrink again", err)
		if got := again.Group().Processes(); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("members %v", got)
		}
		works(ctx, t, again)
	})
}

// TestSpecC4OverlappingRecoveries: two members shrink two common communicators in
// different orders and wait for each other. Diagnosis names communicator and rank at
// each; a context ends the wait, and as contributions stand, both come out.
func TestSpecC4OverlappingRecoveries(t *testing.T) {
	var waiting, gaveUp sync.WaitGroup // of both
	waiting.Add(2)
	gaveUp.Add(2)
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		green, err := w.Dup(ctx)
		ok(t, "dup", err)
		orange, err := w.Split(ctx, 0, 0)
		ok(t, "split", err)
		first, second := green, orange
		if w.Rank() == 1 {
			first, second = orange, green
		}
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		returned := make(chan error, 1)
		go func() {
			_, err := first.Shrink(short)
			returned <- err
		}()
		until(ctx, t, "the diagnosis", func() bool {
			waits := door.Engine(w).Proc().Waits()
			return len(waits) == 1 && waits[0].Op == "shrink" && waits[0].Comm == door.Engine(first).Name() && slices.Equal(waits[0].Ranks, []int{1 - w.Rank()})
		})
		waiting.Done()
		waiting.Wait()
		cancel()
		want(t, "the first", <-returned, context.Canceled)
		gaveUp.Done()
		gaveUp.Wait()
		s, err := second.Shrink(ctx) // the other has given its part already
		ok(t, "the second", err)
		works(ctx, t, w)
		if s.Size() != 2 {
			t.Errorf("size %d", s.Size())
		}
	})
}

// TestSpecC7FencedIsNotHeard: a process that the others have declared dead, and that still runs,
// sends nothing any more: its calls end with ErrFenced, and its later messages never arrive.
func TestSpecC7FencedIsNotHeard(t *testing.T) {
	ctx := t.Context()
	job := inproc.New(3)
	var ws [3]*comm.Comm
	for r := range ws {
		p := engine.New(job.Port(r), engine.Config{})
		defer p.Close()
		ws[r] = door.World(p)
	}
	ok(t, "before", comm.Send(ctx, ws[2].To(0), []int{1}))
	job.Depart(2, true) // the others learn of the departure; rank 2 continues to run
	ok(t, "deaths", commtest.AwaitFailure(ctx, ws[0], 1))
	want(t, "the fenced one", comm.Send(ctx, ws[2].To(0), []int{2}), comm.ErrFenced)
	want(t, "the fenced one", receives["Recv"](ctx, ws[2].From(0)), comm.ErrFenced)
	_, err := ws[2].Agree(ctx, 0)
	want(t, "the fenced one", err, comm.ErrFenced)
	in := []int{0}
	_, err = comm.Recv(ctx, ws[0].From(2), in)
	if err != nil || in[0] != 1 {
		t.Errorf("what it had sent before: %d, %v", in[0], err)
	}
	_, err = comm.Recv(ctx, ws[0].From(2), in)
	want(t, "what it sent afterwards", err, ulfm.ErrProcFailed)
}

// TestSpecC8WhatIsAFailure: a rank that ends without Finalize has failed; one that
// has finalized has not.
func TestSpecC8WhatIsAFailure(t *testing.T) {
	ctx := t.Context()
	job := inproc.New(2)
	var ws [2]*comm.Comm
	for r := range ws {
		p := engine.New(job.Port(r), engine.Config{})
		defer p.Close()
		ws[r] = door.World(p)
	}
	finalized := make(chan error, 1)
	go func() { finalized <- ws[1].Finalize(ctx) }()
	ok(t, "finalize", ws[0].Finalize(ctx))
	ok(t, "finalize", <-finalized)
	if got := ws[0].GetFailed(); got.Size() != 0 {
		t.Errorf("failed by finalizing: %v", got)
	}
	commtest.Run(t, 2, func(ctx context.Context, w *comm.Comm) {
		if w.Rank() == 1 {
			commtest.Kill(w) // processes that exit in every other way: package matrix
		}
		err := receives["Recv"](ctx, w.From(1))
		want(t, "recv", err, ulfm.ErrProcFailed)
		if !strings.Contains(err.Error(), "rank 1") || errors.Is(err, comm.ErrFinalized) {
			t.Errorf("said as %v", err)
		}
	})
}
