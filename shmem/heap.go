package shmem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/firstfit"
	"github.com/goulfm/goulfm/rma"
)

// A Heap is memory of the same size at each processing element (PE), which are the ranks of a
// communicator, in which objects lie at the same place everywhere. Its methods may be called from
// any goroutine; collective ones by one goroutine of a PE at a time.
type Heap struct {
	c      *comm.Comm // what it was made of
	owned  bool       // c is the heap's
	name   string     // in errors
	win    *rma.Win[byte]
	wake   *rma.Win[uint64] // a word of each PE that changes when a lock was given back
	root   *Heap            // of a team: the heap with the objects; else itself
	kin    *kin
	holder int64 // what a lock says that this PE has

	mu      sync.Mutex
	space   firstfit.Space // guarded by mu; of a team: empty
	repairs int64          // how often the heap was repaired
}

// kin is one for a heap, its teams, and those that come of its repairs: they have the same objects.
type kin struct{ _ byte }

// headBytes are in front of the objects at each PE: the word to wake by.
const headBytes = firstfit.Line

// New makes a heap of bytes zeroed bytes at each PE. Collective over c: all give the same number
// and the same options, of which Populate is the one that a heap has a use for. It succeeds at
// every living PE or at none. A revocation of c is one of the heap.
//
// Errors: comm.ErrArgument for a wrong number, comm.ErrMismatch where PEs gave different ones, and
// those of rma.Allocate (OpenSHMEM 1.5, 9.1.1: there the environment says how large the heap is).
func New(ctx context.Context, c *comm.Comm, bytes int, o ...rma.Option) (*Heap, error) {
	size := headBytes + firstfit.RoundUp(bytes)
	if bytes < 0 || bytes > math.MaxInt/4 {
		size = -1 // the error is that of the window, everywhere
	}
	w, err := rma.Allocate[byte](ctx, c, size, o...)
	if err != nil {
		return nil, err
	}
	h := &Heap{c: c, kin: &kin{}, space: firstfit.Space{Bytes: size - headBytes}}
	if err := h.use(w); err != nil {
		return nil, errors.Join(h.raise(err), w.Free())
	}
	return h, nil
}

// use has a heap lie in a window.
func (h *Heap) use(w *rma.Win[byte]) (err error) {
	h.win, h.name = w, "heap of "+h.c.Name()
	if h.root == nil {
		h.root = h
	}
	h.holder = int64(w.Comm().Group().Processes()[h.PE()]) + 1 | h.repairs<<lockRepairs
	for pe := range h.PEs() {
		if w.Len(pe) != w.Len(0) {
			return h.fail("new", nil, fmt.Errorf("%w: heaps of %d and %d bytes", comm.ErrMismatch, w.Len(0), w.Len(pe)))
		}
	}
	h.wake, err = rma.View[uint64](w, 0, 1)
	return err
}

// PE returns the number of this PE, from 0 (shmem_my_pe).
func (h *Heap) PE() int { return h.win.Comm().Rank() }

// PEs returns how many PEs there are (shmem_n_pes).
func (h *Heap) PEs() int { return h.win.Comm().Size() }

// Bytes returns the size of the heap at each PE.
func (h *Heap) Bytes() int { return h.win.Len(0) - headBytes }

// Comm returns the communicator that the heap was made of: after a Repair that of the living, which
// ends with the heap. PEs are its ranks.
func (h *Heap) Comm() *comm.Comm { return h.c }

// Failed returns the PEs that are known to be dead, in order of learning.
func (h *Heap) Failed() []int { return h.win.Comm().FailedRanks() }

// Revoke ends the use of the heap at all PEs, as soon as they hear of it: operations return
// comm.ErrRevoked, and waits end. What was done stays, and can be salvaged. It is not collective.
func (h *Heap) Revoke() error { return h.win.Revoke() }

// Free gives the heap up here. It is local, and works on one that was revoked or has lost PEs;
// others may use this PE's memory until they free the heap themselves. Slices of it are dead. No
// other call on the heap may be under way (shmem_finalize).
func (h *Heap) Free() error {
	err := h.win.Free()
	if h.owned && !errors.Is(err, comm.ErrFreed) {
		err = errors.Join(err, h.c.Free())
	}
	return err
}

// Team returns the heap as the members of c see it, each of which is a PE of h: PEs are numbered by
// their ranks in c, and barriers, waits and collectives are of these alone. It has the objects of h
// (On), and makes none. Collective over c, with the errors of rma.Rebuild. All come to it, as to
// every call that makes something of c: one that goes to Repair instead leaves the others waiting.
// The team has an end of its own (Free); after a Repair of h teams are made anew
// (shmem_team_split_strided: c.Split, c.Create).
func (h *Heap) Team(ctx context.Context, c *comm.Comm) (*Heap, error) {
	w, err := rma.Rebuild(ctx, c, h.win)
	if err != nil {
		return nil, err
	}
	t := &Heap{c: c, root: h.root, kin: h.kin}
	if err := t.use(w); err != nil {
		return nil, errors.Join(t.raise(err), w.Free())
	}
	return t, nil
}

// The flag of an agreement on a heap. Calls that end by one and Repair meet in it: else a PE in
// Alloc would wait for one in Repair, which waits for it.
const (
	inOrder    = 1 << 63 // whoever contributes is not in Repair
	inRepair   = 1 << 62 // it is
	digestBits = 31      // twice: what all must have alike, and its complement
	digestMask = 1<<digestBits - 1
)

// agree ends a collective call: nil at all, or an error at all. Word is what all must have alike,
// mine what is wrong here. It is a barrier, too.
func (h *Heap) agree(ctx context.Context, op string, word uint32, mine error) error {
	if ctx == nil {
		return h.fail(op, nil, fmt.Errorf("%w: nil context", comm.ErrArgument))
	}
	d := uint64(word) & digestMask
	flag := inOrder | d<<digestBits | ^d&digestMask // the AND of two that differ lacks a bit of either
	if mine != nil {
		flag = inOrder
	}
	all := flag
	_, err := h.win.Comm().Iagree(&all).Wait(ctx) // it contributes also if ctx is over
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		_ = h.win.Revoke() // the others may have agreed: this PE does not know on what
		return h.failBy(op, err)
	case mine != nil && (err == nil || !comm.Recoverable(mine)):
		return h.fail(op, nil, mine)
	case err != nil:
		return h.failBy(op, err)
	case all&inOrder == 0:
		return h.fail(op, nil, fmt.Errorf("%w: it is being repaired", comm.ErrRevoked))
	case all != flag:
		return h.fail(op, nil, fmt.Errorf("%w: PEs that want different things, or have made different calls before", comm.ErrMismatch))
	}
	return nil
}

// gather returns when all living PEs are in Repair: those that are in another call that ends by an
// agreement are told there, and come.
func (h *Heap) gather(ctx context.Context) error {
	for all := uint64(0); all&inRepair == 0; {
		all = ^uint64(inOrder)
		_, err := h.win.Comm().Iagree(&all).Wait(ctx)
		if err != nil && !comm.Recoverable(err) {
			return err
		}
	}
	return nil
}

// raise returns an error as the error handler of the heap's communicator has it. What package rma
// returns has been through it.
func (h *Heap) raise(err error) error {
	if err == nil {
		return nil
	}
	return door.Raise(h.c, err)
}

// fail says where an error happened.
func (h *Heap) fail(op string, ranks []int, err error) error {
	return &comm.Error{Op: op, Comm: h.name, Ranks: ranks, Err: err}
}

// failBy is fail for the error of a call on the communicator of the window.
func (h *Heap) failBy(op string, err error) error {
	if e, ok := errors.AsType[*comm.Error](err); ok {
		return h.fail(op, e.Ranks, e.Err)
	}
	return h.fail(op, nil, err)
}
