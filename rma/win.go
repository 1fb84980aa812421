package rma

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// A Win is a window: n elements of T at each member of a communicator, where n may differ. All
// members may read and write them from the creation until the window is freed. Its methods may be
// called from any goroutine.
//
// Displacements and lengths count elements, from 0. Numbers and bools can be changed atomically;
// records (structs and arrays without pointers) can be put and got.
type Win[T comm.Elem] struct{ k *core }

// A Target is one member of a window, as a target of accesses. A Target is a small value, as
// comm.Dest.
type Target[T comm.Elem] struct {
	k    *core
	rank int
}

// core is a window at one member, independent of its element type: a created window or a View.
type core struct {
	*base
	spec   spec
	unit   int // bytes of an element
	elem   kernel.Elem
	pieces []piece // by rank
	view   bool    // the memory belongs to another core of the base
}

// base is the state that a window and all its Views share.
type base struct {
	parent *comm.Comm // the communicator that the window was made of
	c      *comm.Comm // a duplicate of parent, used by this window alone
	name   string     // in errors
	watch  *engine.Watch
	away   []bool // by rank: memory is not shared, the member executes frames; nil: none is away
	remote []remote
	me, n  int

	numbers  *members
	guards   []guard // by target
	all      allLocked
	access   access
	exposure exposure

	looking sync.Mutex
	sight   atomic.Pointer[sight]

	freeing sync.Once
	kept    atomic.Pointer[[]piece] // of a freed window with Keep; nil: nothing
}

// piece is the memory of one member, as seen by this member.
type piece struct {
	n       int    // elements
	at      int    // of a View: the byte of the member's memory at which they begin
	data    []byte // of these; nil for a member that is away
	memory  *window.Region
	control window.Control
	stripes *stripes       // of a window with Bulk
	says    *window.Region // the memory of control
	source  window.Source  // of a member that is away, but on this node: for gets from memory of the program
}

// Comm returns the communicator of the window: a duplicate of the one that the window was made of,
// with the deaths and acknowledgements that the window's calls see. Once an agreement on Comm has
// completed, all operations of the living before their last Fence are complete, also if the Fence
// returned comm.ErrProcFailed (W15). A program may agree and acknowledge on Comm, but must not send
// messages there.
func (w *Win[T]) Comm() *comm.Comm { return w.k.c }

// Len returns the number of elements of a member; 0 for an invalid rank. After Free a window
// returns 0, and a View its former length.
func (w *Win[T]) Len(rank int) int {
	if rank < 0 || rank >= w.k.n {
		return 0
	}
	return w.k.pieces[rank].n
}

// Local returns this member's elements, to load and store directly. Concurrent accesses of others
// must be synchronised as between goroutines: an atomic operation, a notification, a lock or a
// fence orders the accesses before it (package comment). After Free the slice must not be used, and
// Local returns nil.
func (w *Win[T]) Local() []T {
	if w.k.sight.Load().freed {
		return nil
	}
	return elements[T](&w.k.pieces[w.k.me])
}

// At returns the target of a rank. With an invalid rank each operation on the target returns an
// error.
func (w *Win[T]) At(rank int) Target[T] { return Target[T]{k: w.k, rank: rank} }

// Slice returns the elements of a member on this node, to load and store directly, as Local does
// (MPI 12.2.1.3, MPI_Win_shared_query). The slice can be read also when the member has died; see
// Salvage. Errors: comm.ErrRank, comm.ErrFreed; comm.ErrUnsupported for another member whose memory
// is not shared: on another node, with --fence, or in a window of Create.
func (w *Win[T]) Slice(rank int) ([]T, error) {
	const op = "slice"
	if err := w.k.there(op, rank); err != nil {
		return nil, w.k.raise(err)
	}
	if w.k.isAway(rank) {
		return nil, w.k.raise(w.k.failAway(op, rank))
	}
	return elements[T](&w.k.pieces[rank]), nil
}

// elements are the elements of a piece: no memory for none.
func elements[T any](p *piece) []T { return byteview.Of[T](p.data) }

// Revoke ends the use of the window at all members, now or as soon as they learn of the revocation:
// accesses, flushes, locks, fences, Post, Start and Complete return comm.ErrRevoked, and so does a
// wait whose condition does not hold. Salvage, Slice, Local, View, Notified, TakeNotified and Free
// still work, and so does a Rebuild of the memory on another communicator. Completed operations
// stay in effect. A revocation of the communicator that the window was made of does the same (W19).
// Revoke is not collective.
func (w *Win[T]) Revoke() error { return w.k.raise(w.k.failBy("revoke", w.k.c.Revoke())) }

// Free frees the window here. Free is local, and works on a window that was revoked or has lost
// members. The others may use this member's memory until they free the window themselves (W21); a
// slice that this member has of the window must not be used any more. No other call on the window
// may be in progress in this process. Views end with the window; Free of a View returns
// comm.ErrArgument. With Keep the memory stays until a second Free, or a Rebuild. A Free that finds
// nothing to free or release returns comm.ErrFreed.
func (w *Win[T]) Free() error {
	k := w.k
	if k.view {
		return k.raise(k.fail("free", nil, errView))
	}
	err := comm.ErrFreed
	if k.letGo() {
		err = nil
	}
	k.freeing.Do(func() {
		dead := make([]bool, k.n)
		if k.spec.keep {
			dead = k.look().dead
			k.keep()
		}
		k.looking.Lock()
		k.sight.Store(&sight{err: comm.ErrFreed, freed: true, dead: dead})
		k.looking.Unlock()
		k.watch.Close(k.releaser())
		err = k.c.Free()
	})
	return k.raise(k.failBy("free", err))
}

// there returns the error of a call on the memory of a member, dead or not.
func (k *core) there(op string, rank int) error {
	switch {
	case rank < 0 || rank >= k.n:
		return k.fail(op, nil, comm.ErrRank)
	case k.sight.Load().freed:
		return k.fail(op, nil, comm.ErrFreed)
	}
	return nil
}

// releaser removes the memory from the window, and returns a function that releases the memory.
func (k *core) releaser() func() {
	pieces := k.pieces
	k.pieces = make([]piece, k.n)
	return func() {
		for _, p := range pieces {
			for _, r := range []*window.Region{p.memory, p.says} {
				if r != nil {
					r.Release()
				}
			}
		}
	}
}

// Salvage copies elements out of a member's memory, also of a dead member: from disp on as many as
// dst has. Each number in them was written as a whole, the dead member's own direct stores included
// (W6, W9). Salvage works until this member frees the window, also after a revocation. Errors:
// comm.ErrRank, ErrBounds, comm.ErrFreed; comm.ErrUnsupported as of Slice.
func (w *Win[T]) Salvage(rank, disp int, dst []T) error {
	return w.k.raise(w.k.salvage(rank, disp, byteview.Bytes(dst), len(dst)))
}

// Sync makes this member's direct stores (Local, Slice) visible to the others, and theirs to this
// member, if no other synchronisation does: a full fence (MPI 12.5.4, MPI_Win_sync). Go's atomic
// operations need none.
func (w *Win[T]) Sync() { fence() }

// Put stores src in the target's elements, from disp on; src belongs to the caller again on return.
// Each number is stored as a whole, the sequence of them is not atomic (MPI 12.3.1, MPI_Put). In
// shared memory the elements are stored when Put returns, otherwise when a Flush does.
//
// Errors: comm.ErrRank, ErrBounds; comm.ErrProcFailed when the target is known to be dead, without
// effect then (W3); comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced. If the target dies meanwhile
// the result is success or comm.ErrProcFailed (W4). A call on memory that is not shared may wait,
// for room to send or for an answer: it returns the error of a ctx that ends first, and any of the
// elements may be stored then.
func (t Target[T]) Put(ctx context.Context, disp int, src []T) error {
	return t.k.raise(t.k.put(ctx, "put", t.rank, disp, len(src), byteview.Bytes(src)))
}

// Get copies the target's elements from disp on into dst, as many as dst has. On an error dst is
// unchanged (W8; of a window made by Create dst may be half filled if the target was killed because
// memory is short). Errors as of Put (MPI 12.3.2, MPI_Get).
func (t Target[T]) Get(ctx context.Context, disp int, dst []T) error {
	return t.k.raise(t.k.get(ctx, "get", t.rank, disp, len(dst), byteview.Bytes(dst)))
}

// Iput is Put, as a request: the Wait returns its errors. The request is complete when Iput returns
// (MPI 12.3.5, MPI_Rput).
func (t Target[T]) Iput(ctx context.Context, disp int, src []T) comm.Request {
	return door.NotStarted(t.Put(ctx, disp, src))
}

// Iget is Get, as a request (MPI 12.3.5, MPI_Rget): see Iput.
func (t Target[T]) Iget(ctx context.Context, disp int, dst []T) comm.Request {
	return door.NotStarted(t.Get(ctx, disp, dst))
}
