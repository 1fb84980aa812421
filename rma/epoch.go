package rma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// exposure is the state of this member's Post. Counters in memory never decrease: the k-th Start of
// an origin toward a target meets the k-th Post of that target for the origin.
type exposure struct {
	mu      sync.Mutex
	open    bool     // a Post is not over
	origins []int    // of that Post
	untold  []int    // of those, members that have to be informed by a frame, which was not sent yet
	posted  []uint64 // by origin
}

// access is the state of this member's Start.
type access struct {
	mu      sync.Mutex
	open    bool     // a Start is not over
	targets []int    // of that Start, without those that died before their Post
	started []uint64 // by target
}

// Post begins an epoch in which the members of g access this member's memory: each of them calls
// Start, accesses, and calls Complete. WaitPosted or TestPosted ends the epoch (MPI 12.5.2,
// MPI_Win_post). Post does not wait for their calls. It may wait for room to send to a member whose
// memory is not shared, and for a WaitPosted of another goroutine. Accesses need no Post: Post is
// for programs whose members order phases with some neighbours, and not with all (Fence).
//
// Errors: comm.ErrRank for a group with others than members, comm.ErrArgument while another Post is
// not over, comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced. If ctx ends while Post waits for room,
// the epoch has begun, and WaitPosted and TestPosted inform the members that could not be informed
// yet.
func (w *Win[T]) Post(ctx context.Context, g comm.Group) error {
	return w.k.raise(w.k.post(ctx, g))
}

// Start begins an epoch of accesses to the members of g, and waits until each of them has posted
// for this epoch (MPI 12.5.2, MPI_Win_start). If targets have died before this Post the error is
// comm.ErrProcFailed, which names them, after all others have posted: the epoch has begun with
// those (W16). A target that died after its Post is named by Complete. Start waits for a Start of
// another goroutine first. Other errors: as of Post, with comm.ErrArgument while another Start is
// not over; if ctx ends no epoch has begun.
func (w *Win[T]) Start(ctx context.Context, g comm.Group) error {
	return w.k.raise(w.k.start(ctx, g))
}

// Complete ends the epoch of Start: all its accesses have taken effect for a target that returns
// from WaitPosted (MPI 12.5.2, MPI_Win_complete). Complete does not wait for the targets. It may
// wait for room to send, and for a Start of another goroutine. If targets have died the error is
// comm.ErrProcFailed, which names them; at all others Complete has completed, and the epoch is over
// (W16). If the window is known to be revoked the error is comm.ErrRevoked: the epoch is over, and
// counts at no target. Other errors: ErrNotHeld without a Start, comm.ErrFreed, comm.ErrFenced. If
// ctx ends while Complete waits for room, the epoch is not over: call Complete again.
func (w *Win[T]) Complete(ctx context.Context) error {
	return w.k.raise(w.k.complete(ctx))
}

// WaitPosted ends the epoch of Post, and waits until each of its origins has completed (MPI 12.5.2,
// MPI_Win_wait). If origins have died before their Complete the error is comm.ErrProcFailed, which
// names them, after all living ones have completed: the epoch is over (W16). Any part of the dead
// origins' puts may have taken effect (W6). If ctx ends, or the window is revoked before all have
// completed (comm.ErrRevoked), the epoch is not over. Other errors: ErrNotHeld without a Post,
// comm.ErrFreed, comm.ErrFenced.
func (w *Win[T]) WaitPosted(ctx context.Context) error {
	return w.k.raise(w.k.waitPosted(ctx))
}

// TestPosted is WaitPosted that does not wait for origins: it reports whether the epoch of Post is
// over (MPI 12.5.2, MPI_Win_test). The result is true also with comm.ErrProcFailed. TestPosted
// waits for a Post or WaitPosted of another goroutine.
func (w *Win[T]) TestPosted() (bool, error) {
	over, err := w.k.testPosted()
	return over, w.k.raise(err)
}

// ranksOf returns the ranks of a group's members.
func (k *core) ranksOf(ctx context.Context, op string, g comm.Group) ([]int, error) {
	if ctx == nil {
		return nil, k.fail(op, nil, errNoContext)
	}
	if s := k.sees(); s.err != nil {
		return nil, k.fail(op, nil, s.err)
	}
	ranks := k.c.RanksOf(g)
	if slices.Contains(ranks, comm.Undefined) {
		return nil, k.fail(op, nil, fmt.Errorf("%w: a process that is no member", comm.ErrRank))
	}
	return ranks, nil
}

func (k *core) post(ctx context.Context, g comm.Group) error {
	const op = "post"
	ranks, err := k.ranksOf(ctx, op, g)
	if err != nil {
		return err
	}
	x := &k.exposure
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open {
		return k.fail(op, nil, fmt.Errorf("%w: the Post before is not over", comm.ErrArgument))
	}
	if err := k.watch.Enter(); err != nil {
		return k.fail(op, nil, err)
	}
	x.open, x.origins, x.untold = true, ranks, nil
	for _, o := range ranks {
		x.posted[o]++
		segment.Store64(k.pieces[k.me].control.Posted(o), x.posted[o])
	}
	k.watch.Leave()
	for _, o := range ranks {
		k.ring(o)
		if k.isAway(o) {
			x.untold = append(x.untold, o)
		}
	}
	return k.tellPosted(ctx, op)
}

// tellPosted informs the origins without shared memory of the Post. Of its errors it returns
// that of ctx alone: WaitPosted names the dead.
func (k *core) tellPosted(ctx context.Context, op string) error {
	x := &k.exposure
	for len(x.untold) > 0 {
		o := x.untold[0]
		err := k.far(o).tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Posted, Count: x.posted[o]})
		if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return err
		}
		x.untold = x.untold[1:]
	}
	return nil
}

// noWait is a context that has ended: a frame is sent only if there is room for it.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (k *core) start(ctx context.Context, g comm.Group) error {
	const op = "start"
	ranks, err := k.ranksOf(ctx, op, g)
	if err != nil {
		return err
	}
	e := &k.access
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open {
		return k.fail(op, nil, fmt.Errorf("%w: the Start before is not over", comm.ErrArgument))
	}
	dead, err := k.awaitEach(ctx, op, ranks, func(rank int) bool {
		return k.postedFor(rank) > e.started[rank]
	})
	if err != nil {
		return err
	}
	e.open, e.targets = true, nil
	for _, rank := range ranks {
		if !slices.Contains(dead, rank) {
			e.started[rank]++
			e.targets = append(e.targets, rank)
		}
	}
	return k.failDead(op, dead)
}

// postedFor is the number of a target's posts for this member.
func (k *core) postedFor(rank int) uint64 {
	if k.isAway(rank) {
		return k.remote[rank].posted.Load()
	}
	return segment.Load64(k.pieces[rank].control.Posted(k.me))
}

func (k *core) complete(ctx context.Context) error {
	const op = "complete"
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
	e := &k.access
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.open {
		return k.fail(op, nil, fmt.Errorf("%w: call Start first", ErrNotHeld))
	}
	s := k.sees()
	if s.freed {
		return k.fail(op, nil, s.err)
	}
	if s.err != nil { // its puts may have been refused: the targets must not count it
		e.open = false
		return k.fail(op, nil, s.err)
	}
	if err := k.watch.Enter(); err != nil {
		return k.fail(op, nil, err)
	}
	var dead []int
	for _, rank := range e.targets {
		if !k.isAway(rank) {
			segment.Store64(k.pieces[rank].control.Completed(k.me), e.started[rank])
		}
		if s.dead[rank] {
			dead = append(dead, rank)
		}
	}
	k.watch.Leave()
	for _, rank := range e.targets {
		k.ring(rank)
		if !k.isAway(rank) || s.dead[rank] {
			continue
		}
		// The count of a target that has received it is sent once more if Complete is called again.
		err := k.far(rank).tell(ctx, op, &rmaserver.Frame{Op: rmaserver.Completed, Count: e.started[rank]})
		switch {
		case err != nil && k.look().dead[rank]:
			dead = append(dead, rank)
		case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return err
		}
	}
	e.open = false
	return k.failDead(op, dead)
}

func (k *core) waitPosted(ctx context.Context) error {
	const op = "wait_posted"
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
	x := &k.exposure
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.open {
		return k.fail(op, nil, fmt.Errorf("%w: call Post first", ErrNotHeld))
	}
	if s := k.sees(); s.freed {
		return k.fail(op, nil, s.err)
	}
	if err := k.tellPosted(ctx, op); err != nil {
		return err
	}
	dead, err := k.awaitEach(ctx, op, x.origins, k.hasCompleted)
	if err != nil {
		return err
	}
	x.open = false
	return k.failDead(op, dead)
}

func (k *core) testPosted() (bool, error) {
	const op = "test_posted"
	x := &k.exposure
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.open {
		return false, k.fail(op, nil, fmt.Errorf("%w: call Post first", ErrNotHeld))
	}
	s := k.sees()
	if s.freed {
		return false, k.fail(op, nil, s.err)
	}
	_ = k.tellPosted(noWait, op)
	dead, over := k.each(s, x.origins, k.hasCompleted)
	switch {
	case s.err != nil && (!over || len(dead) > 0):
		return false, k.fail(op, nil, s.err)
	case over:
		x.open = false
		return true, k.failDead(op, dead)
	}
	return false, nil
}

// hasCompleted reports whether an origin has completed its posted epoch.
func (k *core) hasCompleted(o int) bool {
	return segment.Load64(k.pieces[k.me].control.Completed(o)) >= k.exposure.posted[o]
}

// each reports whether ok holds for all ranks except the dead, and returns the dead ranks for which
// ok does not hold.
func (k *core) each(s *sight, ranks []int, ok func(rank int) bool) (dead []int, over bool) {
	for _, rank := range ranks {
		switch {
		case ok(rank):
		case s.dead[rank]:
			dead = append(dead, rank)
		default:
			return nil, false
		}
	}
	return dead, true
}

// awaitEach waits until each is over. Completed events take precedence, then a revocation, then
// deaths, as in a Wait (W17).
func (k *core) awaitEach(ctx context.Context, op string, ranks []int, ok func(rank int) bool) (dead []int, err error) {
	over := func() (over bool) {
		s := k.sees()
		dead, over = k.each(s, ranks, ok)
		switch {
		case over && len(dead) == 0:
			return true
		case s.err != nil:
			err = s.err
		case !over:
			err = ctx.Err()
		}
		return over || err != nil
	}
	missing := func() []int {
		return slices.DeleteFunc(slices.Clone(ranks), ok)
	}
	k.watch.Await(k.pieces[k.me].control.Bell(), engine.Reason{Op: op, All: true, Ask: missing}, over)
	if err != nil {
		return nil, k.fail(op, nil, err)
	}
	return dead, nil
}

func (k *core) failDead(op string, dead []int) error {
	if len(dead) == 0 {
		return nil
	}
	return k.fail(op, dead, comm.ErrProcFailed)
}
