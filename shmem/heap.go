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
// communicator. Objects have the same place at all PEs. Its methods may be called from any
// goroutine; collective ones by one goroutine of a PE at a time.
type Heap struct {
	c      *comm.Comm // the communicator that the heap was made of
	owned  bool       // c is the heap's
	name   string     // in errors
	win    *rma.Win[byte]
	wake   *rma.Win[uint64] // a word of each PE that changes when a lock was released
	root   *Heap            // of a team: the heap with the objects; otherwise the heap itself
	kin    *kin
	holder int64 // the word of a lock that this PE holds

	mu      sync.Mutex
	space   firstfit.Space // guarded by mu; of a team: empty
	repairs int64          // number of repairs of the heap
}

// kin identifies a heap, its teams, and the results of its repairs: they have the same objects.
type kin struct{ _ byte }

// headBytes are in front of the objects at each PE: the word to wake by.
const headBytes = firstfit.Line

// New makes a heap at each PE. Its size is given in bytes, all of which are 0 at first. Collective
// over c: all give the same size and the same options, of which only Populate is useful for a heap.
// New succeeds at every living PE or at none. A revocation of c also revokes the heap.
//
// Errors: comm.ErrArgument for a wrong size, comm.ErrMismatch if PEs gave different ones, and
// those of rma.Allocate (OpenSHMEM 1.5, 9.1.1: there the environment sets the size of the heap).
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

// use places a heap in a window.
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

// PEs returns the number of PEs (shmem_n_pes).
func (h *Heap) PEs() int { return h.win.Comm().Size() }

// Bytes returns the size of the heap at each PE.
func (h *Heap) Bytes() int { return h.win.Len(0) - headBytes }

// Comm returns the communicator that the heap was made of; after a Repair, the communicator of the
// living, which ends with the heap. PEs are its ranks.
func (h *Heap) Comm() *comm.Comm { return h.c }

// Failed returns the PEs that are known to be dead, in order of learning.
func (h *Heap) Failed() []int { return h.win.Comm().FailedRanks() }

// Revoke ends the use of the heap at all PEs, as soon as they learn of the revocation: operations
// return comm.ErrRevoked, and waits end. Completed operations stay in effect, and the data can be
// salvaged. Revoke is not collective.
func (h *Heap) Revoke() error { return h.win.Revoke() }

// Free frees the heap here. Free is local, and works on a heap that was revoked or has lost PEs;
// others may use this PE's memory until they free the heap themselves. Slices of the heap must not
// be used any more. No other call on the heap may be in progress (shmem_finalize).
func (h *Heap) Free() error {
	err := h.win.Free()
	if h.owned && !errors.Is(err, comm.ErrFreed) {
		err = errors.Join(err, h.c.Free())
	}
	return err
}

// Team returns the heap as seen by the members of c, each of which is a PE of h: PEs are numbered
// by their ranks in c, and barriers, waits and collectives involve these alone. A team has the
// objects of h (On), and cannot allocate. Collective over c, with the errors of rma.Rebuild. All
// members must call Team, as every call that makes an object of c: a member that calls Repair
// instead leaves the others waiting. The team is freed on its own (Free); after a Repair of h teams
// are made anew (shmem_team_split_strided: c.Split, c.Create).
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

// The flag of an agreement on a heap. Repair and the calls that end in an agreement meet in the
// same agreement. Otherwise a PE in Alloc and a PE in Repair would wait for each other.
const (
	inOrder    = 1 << 63 // the contributor is not in Repair
	inRepair   = 1 << 62 // the contributor is in Repair
	digestBits = 31      // twice: the digest that must be equal at all PEs, and its complement
	digestMask = 1<<digestBits - 1
)

// agree ends a collective call: nil at all, or an error at all. Word must be equal at all PEs, and
// mine is the error of this PE. It is a barrier, too.
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
	_, err := h.win.Comm().Iagree(&all).Wait(ctx) // Iagree contributes also if ctx is over
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		_ = h.win.Revoke() // the others may have agreed, on a value unknown to this PE
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

// gather returns when all living PEs are in Repair. PEs in another call that ends in an agreement
// get an error there, and then call Repair.
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

// raise passes an error through the error handler of the heap's communicator. Errors of package rma
// have passed it already.
func (h *Heap) raise(err error) error {
	if err == nil {
		return nil
	}
	return door.Raise(h.c, err)
}

// fail adds the location of an error.
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
