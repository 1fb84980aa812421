package comm_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/comm/commtest"
	"github.com/goulfm/goulfm/ulfm"
)

// TestSpecR57TheOthersAreNotNeeded: a member outside of the group is dead, and the call of another
// takes no part and returns nil; the group has its communicator, in its order, several times.
func TestSpecR57TheOthersAreNotNeeded(t *testing.T) {
	order := []int{4, 0, 3}
	commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
		g, err := w.Group().Incl(order...)
		ok(t, "incl", err)
		killAndWatch(ctx, t, w, 1)
		if w.Rank() == 2 {
			c, err := w.CreateGroup(ctx, g, 0)
			if c != nil || err != nil {
				t.Errorf("who is not in the group: %v, %v", c, err)
			}
			return
		}
		for tag := range 3 {
			c, err := w.CreateGroup(ctx, g, tag%2)
			if err != nil || !c.Group().Equal(g) || c.Rank() != slices.Index(order, w.Rank()) {
				t.Errorf("rank %d: %v, %v", w.Rank(), c, err)
				return
			}
			works(ctx, t, c)
			d, err := c.Dup(ctx) // the new communicator works like any other
			ok(t, "dup", err)
			works(ctx, t, d)
			ok(t, "free", c.Free())
		}
	})
}

// TestCreateGroupsAtTheSameTime: groups that overlap, and several calls of the same members in
// separate goroutines, distinguished by tag.
func TestCreateGroupsAtTheSameTime(t *testing.T) {
	const n = 4
	commtest.Run(t, n, func(ctx context.Context, w *comm.Comm) {
		var wg sync.WaitGroup
		for leftOut := range n {
			g, err := w.Group().Excl(leftOut)
			ok(t, "excl", err)
			if w.Rank() == leftOut {
				continue
			}
			for tag := range 3 {
				wg.Go(func() {
					c, err := w.CreateGroup(ctx, g, tag)
					if err != nil || !c.Group().Equal(g) {
						t.Errorf("without %d, tag %d: %v", leftOut, tag, err)
						return
					}
					works(ctx, t, c)
				})
			}
		}
		wg.Wait()
	})
}

// TestCreateGroupOfOneself needs nobody.
func TestCreateGroupOfOneself(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		killAndWatch(ctx, t, w, 2)
		g, err := w.Group().Incl(w.Rank())
		ok(t, "incl", err)
		c, err := w.CreateGroup(ctx, g, 0)
		ok(t, "create", err)
		works(ctx, t, c)
	})
}

// TestCreateGroupWithADeadMember fails at all of the group, and names it.
func TestCreateGroupWithADeadMember(t *testing.T) {
	for _, known := range []bool{false, true} {
		commtest.Run(t, 5, func(ctx context.Context, w *comm.Comm) {
			g, err := w.Group().Excl(0)
			ok(t, "excl", err)
			switch {
			case known:
				killAndWatch(ctx, t, w, 3)
			case w.Rank() == 3:
				commtest.Kill(w)
			}
			if w.Rank() == 0 {
				return
			}
			c, err := w.CreateGroup(ctx, g, 0)
			want(t, "create", err, ulfm.ErrProcFailed)
			wantRanks(t, err, 3)
			if c != nil {
				t.Error("made a communicator")
			}
			c, err = w.CreateGroup(ctx, g.Difference(w.GetFailed()), 0)
			ok(t, "without it", err)
			works(ctx, t, c)
		})
	}
}

// TestCreateGroupMeetsARevocation: a member of the group revokes in place of the call. The others
// get ErrRevoked, whether or not they know of each other's calls by then.
func TestCreateGroupMeetsARevocation(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		d, err := w.Dup(ctx)
		ok(t, "dup", err)
		if w.Rank() == 3 {
			until(ctx, t, "0 to be about to call", func() bool {
				_, open, err := comm.Iprobe(w.From(0))
				return open || err != nil
			})
			ok(t, "revoke", d.Revoke())
			return
		}
		if w.Rank() == 0 {
			ok(t, "send", comm.Send(ctx, w.To(3), []int{1}))
		}
		_, err = d.CreateGroup(ctx, d.Group(), 0)
		want(t, "create", err, ulfm.ErrRevoked)
		_, err = d.CreateGroup(ctx, d.Group(), 0)
		want(t, "create again", err, ulfm.ErrRevoked)
		g, err := w.Group().Excl(3)
		ok(t, "excl", err)
		c, err := w.CreateGroup(ctx, g, 0)
		ok(t, "on the parent", err)
		works(ctx, t, c)
	})
}

// TestCreateGroupWithWrongArguments: an error that only the caller can detect is the caller's own
// and makes no member wait; another order is an error of all.
func TestCreateGroupWithWrongArguments(t *testing.T) {
	commtest.Run(t, 3, func(ctx context.Context, w *comm.Comm) {
		half, err := w.Split(ctx, w.Rank()/2, 0)
		ok(t, "split", err)
		_, err = half.CreateGroup(ctx, w.Group(), 0)
		want(t, "a stranger", err, comm.ErrRank)
		for _, tag := range []int{-1, math.MaxInt32 + 1} {
			_, err = w.CreateGroup(ctx, w.Group(), tag)
			want(t, "tag", err, comm.ErrTag)
		}
		order := []int{0, 1, 2}
		if w.Rank() == 1 {
			order = []int{2, 1, 0}
		}
		g, err := w.Group().Incl(order...)
		ok(t, "incl", err)
		_, err = w.CreateGroup(ctx, g, 0)
		want(t, "another order", err, comm.ErrMismatch)
		wantRanks(t, err, 0, 1)
		c, err := w.CreateGroup(ctx, w.Group(), 0)
		ok(t, "next", err)
		works(ctx, t, c)
	})
}

// TestCreateGroupNamesWhomItWaitsFor: only 1 calls, and abandons the wait; its part stands, so that
// the calls of 0 and 2 return later.
func TestCreateGroupNamesWhomItWaitsFor(t *testing.T) {
	commtest.Run(t, 4, func(ctx context.Context, w *comm.Comm) {
		g, err := w.Group().Incl(0, 1, 2)
		ok(t, "incl", err)
		if w.Rank() == 1 {
			short, cancel := context.WithCancel(ctx)
			go func() {
				until(ctx, t, "the diagnosis", func() bool {
					waits := door.Engine(w).Proc().Waits()
					return len(waits) == 1 && waits[0].Op == "create_group" && slices.Equal(waits[0].Ranks, []int{0, 2})
				})
				cancel()
			}()
			_, err := w.CreateGroup(short, g, 0)
			want(t, "create", err, context.Canceled)
			wantRanks(t, err, 0, 2)
		}
		_, err = w.Agree(ctx, 0)
		ok(t, "agree", err)
		if w.Rank() == 0 || w.Rank() == 2 {
			c, err := w.CreateGroup(ctx, g, 0)
			ok(t, "create", err)
			if err == nil && c.Size() != 3 {
				t.Errorf("%v", c.Group())
			}
		}
	})
}

// TestCreateGroupDeathAtEveryFrame: a member dies before any frame; the living members
// of the group all have the communicator or none has, and nobody waits for ever.
func TestCreateGroupDeathAtEveryFrame(t *testing.T) {
	const n, victim = 5, 3
	for frame := uint64(1); ; frame++ {
		var made ledger[bool]
		came := commtest.RunKilled(t, n, victim, frame, func(ctx context.Context, w *comm.Comm) {
			g, err := w.Group().Incl(4, 3, 2, 0)
			ok(t, "incl", err)
			c, err := w.CreateGroup(ctx, g, 0)
			switch {
			case w.Rank() == victim:
			case w.Rank() == 1:
				ok(t, "who is not in it", err)
			case err != nil && !errors.Is(err, ulfm.ErrProcFailed):
				t.Errorf("frame %d, rank %d: %v", frame, w.Rank(), err)
			default:
				made.note(w.Rank(), c != nil)
			}
		})
		made.uniform(t, same, 0, 2, 4)
		if !came {
			break
		}
	}
}
