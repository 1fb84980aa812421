package rma

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
)

// sight is a member's knowledge of the others of a window. A sight is immutable: look replaces it
// by a new one, for example after the epoch of the node has moved.
type sight struct {
	epoch   uint64
	dead    []bool // by rank
	gone    []int  // the dead, in order of learning
	unacked []int  // the dead that are not acknowledged on the window's communicator
	err     error  // the reason why no call is possible: revoked, freed, fenced, finalized
	freed   bool
}

// sees returns the present knowledge. It costs two loads if there is no news.
func (k *core) sees() *sight {
	s := k.sight.Load()
	if s.freed || s.epoch == k.watch.Epoch() {
		return s
	}
	return k.look()
}

// look updates the sight. Several goroutines may find the epoch moved at once; a later update never
// knows less.
func (k *core) look() *sight {
	k.looking.Lock()
	defer k.looking.Unlock()
	now := k.watch.Look()
	s := &sight{epoch: now.Epoch, dead: make([]bool, k.n), gone: now.Dead, unacked: now.Unacked, err: now.Err}
	for _, rank := range now.Dead {
		s.dead[rank] = true
	}
	if s.err == nil && now.Revoked {
		s.err = comm.ErrRevoked
	}
	if old := k.sight.Load(); old != nil && old.freed {
		return old
	}
	k.sight.Store(s)
	return s
}

// toward begins a call on one target, and returns the error of such a call, or nil.
func (k *core) toward(ctx context.Context, op string, rank int) error {
	switch {
	case ctx == nil:
		return k.fail(op, nil, errNoContext)
	case rank < 0 || rank >= k.n:
		return k.fail(op, nil, fmt.Errorf("%w: %d of %d", comm.ErrRank, rank, k.n))
	}
	switch s := k.sees(); {
	case s.err != nil:
		return k.fail(op, nil, s.err)
	case s.dead[rank]:
		return k.fail(op, []int{rank}, comm.ErrProcFailed)
	}
	return nil
}

// reach begins an access to n elements of a target, from disp on, and returns their memory. The
// caller must not wait until leave.
func (k *core) reach(ctx context.Context, op string, rank, disp, n int) ([]byte, error) {
	if err := k.toward(ctx, op, rank); err != nil {
		return nil, err
	}
	p := &k.pieces[rank]
	if !p.has(disp, n) {
		return nil, k.failBounds(op, rank, disp, n)
	}
	if err := k.watch.Enter(); err != nil {
		return nil, k.fail(op, nil, err)
	}
	if pausepoint.Enabled {
		pausepoint.At("rma.reaches")
	}
	return p.data[disp*k.unit : (disp+n)*k.unit : (disp+n)*k.unit], nil
}

// has reports whether a piece has n elements from disp on.
func (p *piece) has(disp, n int) bool { return uint(disp) <= uint(p.n) && n <= p.n-disp }

// failBounds is the error of an access to n elements that a member does not have.
func (k *core) failBounds(op string, rank, disp, n int) error {
	return k.fail(op, []int{rank}, fmt.Errorf("%w: elements %d to %d of %d", ErrBounds, disp, disp+n, k.pieces[rank].n))
}

func (k *core) leave() { k.watch.Leave() }

// failGone is the error of a call that has completed at all but the dead, or nil.
func (k *core) failGone(op string, s *sight) error {
	switch {
	case s.err != nil:
		return k.fail(op, nil, s.err)
	case len(s.gone) > 0:
		return k.fail(op, slices.Clone(s.gone), comm.ErrProcFailed)
	}
	return nil
}
