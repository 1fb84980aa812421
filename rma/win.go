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

// A Win is a window: n elements of T at each member of a communicator, where n may differ, that all
// members may read and write from its creation until they free it. Its methods may be called from
// any goroutine.
//
// Displacements and lengths count elements, from 0. Numbers and bools can be changed atomically;
// records (structs and arrays without pointers) can be put and got.
type Win[T comm.Elem] struct{ k *core }

// A Target is one member of a window, for those who access its memory. It is a small value, as
// comm.Dest.
type Target[T comm.Elem] struct {
	k    *core
	rank int
}

// core is a window at one member, whatever its elements are: one that was made, or a View of it.
type core struct {
	*base
	spec   spec
	unit   int // bytes of an element
	elem   kernel.Elem
	pieces []piece // by rank
	view   bool    // the memory belongs to another core of the base
}

// base is what a window and all Views of it have in common.
type base struct {
	parent *comm.Comm // what it was made of
	c      *comm.Comm // a duplicate, which nobody else uses
	name   string     // in errors
	watch  *engine.Watch
	away   []bool // by rank: its memory is not shared, it executes frames; nil: none is
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
	kept    atomic.Pointer[[]piece] // of a window with Keep that was freed; nil: nothing
}

// piece is the memory of one member, as this one sees it.
type piece struct {
	n       int    // elements
	at      int    // of a View: the byte of the member's memory at which they begin
	data    []byte // of these; of a member that is away: nil
	memory  *window.Region
	control window.Control
	stripes *stripes       // of a window with Bulk
	says    *window.Region // where control lies
	source  window.Source  // of a member that is away, but on this node: for gets from memory of the program
}

// Comm returns the communicator of the window: a duplicate of the one that it was made of, whose
// deaths and acknowledgements are those that the window's calls see. An agreement on it that has
// succeeded says that all operations of the living before it are complete (W15). A program may
// agree and acknowledge on it; messages of the program have no business there.
func (w *Win[T]) Comm() *comm.Comm { return w.k.c }

// Len returns how many elements a member has; 0 for a rank that there is not.
func (w *Win[T]) Len(rank int) int {
	if rank < 0 || rank >= w.k.n {
		return 0
	}
	return w.k.pieces[rank].n
}

// Local returns this member's elements, to load and store directly. What others access at the same
// time must be synchronised as between goroutines: an atomic operation, a notification, a lock or a
// fence orders the accesses before it (package comment). After Free the slice is dead, and there is
// none any more.
func (w *Win[T]) Local() []T {
	if w.k.sight.Load().freed {
		return nil
	}
	return elements[T](&w.k.pieces[w.k.me])
}

// At returns the target of a rank. A rank that there is not is the error of each operation there.
func (w *Win[T]) At(rank int) Target[T] { return Target[T]{k: w.k, rank: rank} }

// Slice returns the elements of a member on this node, to load and store directly, as Local does
// (MPI 12.2.1.3, MPI_Win_shared_query). It can be read also when the member has died; see Salvage.
// Errors: comm.ErrRank, comm.ErrFreed; comm.ErrUnsupported for a member whose memory is not shared:
// on another node, or with --fence.
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

// Revoke ends the use of the window at all members, now or as soon as they hear of it: every
// operation returns comm.ErrRevoked, but Salvage and Free, and waits end. What was done stays. A
// revocation of the communicator that the window was made of does the same (W19). It is not
// collective.
func (w *Win[T]) Revoke() error { return w.k.raise(w.k.failBy("revoke", w.k.c.Revoke())) }

// Free gives the window up here. It is local, and works on a window that was revoked or has lost
// members. The others may use this member's memory until they free it themselves (W21); a slice
// that this one has of the window is dead. No other call on the window may be under way in this
// process. Views of it end with it; a View cannot be freed: comm.ErrArgument. With Keep the memory
// is there until a second Free, or a Rebuild.
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

// there says what is wrong with a call on the memory of a member, dead or not.
func (k *core) there(op string, rank int) error {
	switch {
	case rank < 0 || rank >= k.n:
		return k.fail(op, nil, comm.ErrRank)
	case k.sight.Load().freed:
		return k.fail(op, nil, comm.ErrFreed)
	}
	return nil
}

// releaser takes the memory from the window, and returns what gives it back.
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

// Salvage copies elements out of a member's memory, also of one that is dead: from disp on as many
// as dst has. Each element is one that some whole write gave it, the dead member's own direct
// stores included (W6, W9). It works until this member frees the window, also when it is revoked.
// Errors: comm.ErrRank, ErrBounds, comm.ErrFreed; comm.ErrUnsupported as of Slice.
func (w *Win[T]) Salvage(rank, disp int, dst []T) error {
	return w.k.raise(w.k.salvage(rank, disp, byteview.Bytes(dst), len(dst)))
}

// Sync makes what this member has stored directly (Local, Slice) visible to the others, and what
// they have stored to it, where nothing else does: a full fence (MPI 12.7.4, MPI_Win_sync). Go's
// atomic operations need none.
func (w *Win[T]) Sync() { fence() }

// Put stores src in the target's elements, from disp on; src is the caller's again. Each number is
// stored as a whole, the whole of them is not atomic (MPI 12.3.1, MPI_Put). In memory that is
// shared they are there when it returns, else when a Flush does.
//
// Errors: comm.ErrRank, ErrBounds; comm.ErrProcFailed when the target is known to be dead, without
// effect then (W3); comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced. When the target dies meanwhile
// it is success or comm.ErrProcFailed (W4).
func (t Target[T]) Put(ctx context.Context, disp int, src []T) error {
	return t.k.raise(t.k.put(ctx, "put", t.rank, disp, len(src), byteview.Bytes(src)))
}

// Get copies the target's elements from disp on into dst, as many as it has. On an error dst is
// untouched (W8; of a window that was Created it may be half filled if the target was killed
// because memory is short). Errors as of Put (MPI 12.3.2, MPI_Get).
func (t Target[T]) Get(ctx context.Context, disp int, dst []T) error {
	return t.k.raise(t.k.get(ctx, "get", t.rank, disp, len(dst), byteview.Bytes(dst)))
}

// Iput is Put, as a request: its errors are those of the Wait. It is complete when it
// returns (MPI 12.3.5, MPI_Rput).
func (t Target[T]) Iput(ctx context.Context, disp int, src []T) comm.Request {
	return door.NotStarted(t.Put(ctx, disp, src))
}

// Iget is Get, as a request (MPI 12.3.5, MPI_Rget): see Iput.
func (t Target[T]) Iget(ctx context.Context, disp int, dst []T) comm.Request {
	return door.NotStarted(t.Get(ctx, disp, dst))
}
