package rma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// Allocate makes a window of n zeroed elements of T here. Collective over c: every member gives the
// same T and the same options; n may differ, and be 0. Allocate succeeds at every live member or at
// none (W1), unless a revocation overtakes it. The window has a communicator of its own: later
// deaths and shrinks of c do not end the window.
//
// Errors: comm.ErrNoRoom if there is no memory, comm.ErrType for elements that have no fixed size
// or hold pointers, comm.ErrArgument for a wrong n or option, each at the member with the error and
// comm.ErrPeerArgument at the others; comm.ErrMismatch if members gave different types or numbers
// of notifications, if some gave Bulk and others did not, or if only some called Create;
// comm.ErrProcFailed when a member has died; and comm.ErrRevoked, comm.ErrFreed, comm.ErrFenced,
// comm.ErrFinalized. If ctx is over at the call the error Is comm.ErrNotBegun, and the others wait
// for another call of this member. If ctx ends after the members have made the window's
// communicator, the window is revoked at all members (MPI 12.2.2, MPI_Win_allocate).
func Allocate[T comm.Elem](ctx context.Context, c *comm.Comm, n int, o ...Option) (*Win[T], error) {
	return made[T](create(ctx, c, specOf[T]("allocate", n, o)))
}

// Create makes a window of the program's own memory: mem is this member's elements. For a Get of
// another process of the node the kernel copies from mem, if the kernel lets one process read
// another's memory. All other accesses of other members are frames that this process executes
// concurrently with the program: Allocate is faster, on one node by far. A Get by the kernel that
// meets a store of the same element may tear the element.
//
// The window holds mem until all have freed the window; the memory of a killed member is lost
// (Salvage and Inherit return comm.ErrUnsupported). All members call Create, and a Rebuild of such
// a window has no new members.
//
// Collective over c, uniform as Allocate, with its errors; besides comm.ErrArgument for memory in
// which numbers cannot be changed atomically: elements that do not begin at a multiple of their
// size (of complex128 at a multiple of 8), or are of 1 or 2 bytes and do not fill words of 4 (MPI
// 12.2.1, MPI_Win_create).
func Create[T comm.Elem](ctx context.Context, c *comm.Comm, mem []T, o ...Option) (*Win[T], error) {
	s := specOf[T]("create", len(mem), o)
	if s.own, s.mem = true, byteview.Bytes(mem); s.err == nil && !window.IsWhole(s.mem, s.unit, window.ElemOf(s.code)) {
		s.err = fmt.Errorf("%w: memory of %d elements of %d bytes, which cannot be changed atomically there", comm.ErrArgument, len(mem), s.unit)
	}
	return made[T](create(ctx, c, s))
}

func made[T comm.Elem](k *core, err error) (*Win[T], error) {
	if err != nil {
		return nil, err
	}
	return &Win[T]{k: k}, nil
}

// notificationsMax is the maximum number of notification counters of a window.
const notificationsMax = 1 << 16

// An Option changes the properties of a window. All members give the same options, except Fresh,
// Inherit and Keep, which are each member's own.
type Option func(*spec)

// Notifications gives each member n counters that PutNotify and Notify increment; without this
// option there are none. At most 65,536.
func Notifications(n int) Option { return func(s *spec) { s.notifications = n } }

// Populate allocates all pages of the memory at creation. Without Populate the pages of more than
// 64 MiB are allocated at the first access; if there are none left then, the accessing process
// ends. Populate has no effect on the program's memory (Create), for goroutine ranks, and on a
// kernel without MADV_POPULATE_WRITE.
func Populate() Option { return func(s *spec) { s.populate = true } }

// Bulk executes accumulates and atomic operations under locks of 4 KiB of elements each, instead of
// one atomic instruction for each element. Long accumulates are many times as fast, and single
// operations slower. Operations of package sync/atomic on Local and Slice are then not atomic with
// them (MPI 4.1, 12.2.1: mpi_accumulate_granularity). A member that dies with such a lock leaves no
// damage: the next member takes the lock (W6).
func Bulk() Option { return func(s *spec) { s.bulk = true } }

// spec is the request of a member.
type spec struct {
	op            string
	n             int
	unit          int
	code          uint8
	err           error // the error in the request
	notifications int
	populate      bool
	bulk          bool
	keep          bool
	own           bool   // the memory is the program's
	mem           []byte // of a Create
	old           *core  // of a Rebuild: the old window; nil: there is none
	heir          bool   // Inherit was given, of rank dead of old
	dead          int
	fresh         bool // Fresh was given
}

func specOf[T comm.Elem](op string, n int, options []Option) spec {
	s := spec{op: op, n: n, unit: byteview.Size[T](), code: byteview.Code[T]()}
	for _, o := range options {
		if o == nil {
			s.err = fmt.Errorf("%w: nil option", comm.ErrArgument)
			continue
		}
		o(&s)
	}
	switch {
	case s.err != nil:
	case s.code == 0:
		s.err = fmt.Errorf("%w: elements that have no fixed size or hold pointers", comm.ErrType)
	case s.n < 0:
		s.err = fmt.Errorf("%w: %d elements", comm.ErrArgument, s.n)
	case s.notifications < 0 || s.notifications > notificationsMax:
		s.err = fmt.Errorf("%w: %d counters of notifications: at most %d", comm.ErrArgument, s.notifications, notificationsMax)
	case s.n > math.MaxInt/2/max(s.unit, 1):
		s.err = fmt.Errorf("%w: %d elements", comm.ErrNoRoom, s.n)
	case op != "rebuild" && (s.heir || s.fresh):
		s.err = fmt.Errorf("%w: Inherit and Fresh are for Rebuild", comm.ErrArgument)
	}
	return s
}

// contribution is the message of a member to the others: its request and the place of its memory.
// The message is the bytes of the struct in memory.
type contribution struct {
	Fine          bool // there is memory, and the request has no error
	Own           bool // the memory is the program's
	Bulk          bool
	Code          uint8
	Notifications uint32
	Elements      uint64
	Data          window.Offer
	Control       window.Offer
	Place         window.Place // of memory of the program
}

// creation is a window in the making, at one member.
type creation struct {
	*core
	mine error          // the error at this member
	all  []contribution // by rank; nil: not known
}

// create makes a window. Three steps make the creation uniform: the duplicate is uniform, then the
// members exchange their contributions, and an agreement on the outcome comes last.
func create(ctx context.Context, c *comm.Comm, s spec) (*core, error) {
	switch {
	case c == nil:
		return nil, &comm.Error{Op: s.op, Err: fmt.Errorf("%w: nil communicator", comm.ErrArgument)}
	case ctx == nil:
		return nil, door.Raise(c, &comm.Error{Op: s.op, Comm: c.Name(), Err: errNoContext})
	}
	dup, err := c.Dup(ctx)
	if e, ok := errors.AsType[*comm.Error](err); ok {
		return nil, &comm.Error{Op: s.op, Comm: e.Comm, Ranks: e.Ranks, Err: e.Err} // the handler has received this error
	}
	if err != nil {
		return nil, err
	}
	dup.SetErrorHandler(comm.ErrorsReturn) // fail makes the errors that programs see
	k := &creation{core: &core{base: &base{parent: c, c: dup, name: "window of " + c.Name(), me: c.Rank(), n: c.Size()}, spec: s, unit: s.unit, elem: window.ElemOf(s.code)}}
	k.pieces = make([]piece, k.n)
	k.exposure.posted, k.access.started = make([]uint64, k.n), make([]uint64, k.n)
	k.watch, k.mine = engine.NewWatch(door.Engine(dup), door.Engine(c), s.own), s.err
	k.away = k.watch.Away()
	offer := k.offer()
	k.exchange(ctx, offer)
	k.findAll(ctx)
	if err := k.agree(ctx); err != nil {
		k.giveUp()
		return nil, k.raise(err)
	}
	k.look()
	k.newGuards()
	return k.core, nil
}

// offer makes this member's memory.
func (k *creation) offer() contribution {
	mine := contribution{Own: k.spec.own, Bulk: k.spec.bulk, Code: k.spec.code, Notifications: uint32(k.spec.notifications)}
	if k.mine != nil {
		return mine
	}
	p := &k.pieces[k.me]
	if p.memory, k.mine = k.elements(); k.mine != nil {
		return mine
	}
	if p.says, k.mine = k.newRegion(window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk), true); k.mine != nil {
		return mine
	}
	mine.Fine, mine.Elements = true, uint64(k.spec.n)
	mine.Data, mine.Control = p.memory.Offer(), p.says.Offer()
	if k.spec.own && k.watch.Processes() {
		mine.Place = p.memory.Place()
	}
	k.lend(p)
	return mine
}

// elements returns the memory of this member's elements: the program's memory of a Create, the
// member's own memory of the old window, a copy of a dead member's, or new memory.
func (k *creation) elements() (*window.Region, error) {
	old := k.spec.old
	if k.spec.mem != nil {
		return window.Own(k.spec.mem), nil
	}
	if old == nil || k.spec.fresh {
		return k.newRegion(k.spec.n*k.unit, k.spec.populate)
	}
	if !k.spec.heir {
		return old.memories()[old.me].memory.Retain(), nil
	}
	r, err := k.newRegion(k.spec.n*k.unit, k.spec.populate)
	if err == nil {
		copy(r.Bytes(), old.memories()[k.spec.dead].data)
	}
	return r, err
}

func (k *creation) newRegion(bytes int, populate bool) (*window.Region, error) {
	if !k.watch.Processes() {
		return window.Heap(bytes), nil
	}
	r, err := window.Map(bytes, populate)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", comm.ErrNoRoom, err)
	}
	return r, nil
}

// exchange receives the offers of all others.
func (k *creation) exchange(ctx context.Context, mine contribution) {
	all := make([]contribution, k.n)
	err := collectives.Allgather(ctx, k.c, all, []contribution{mine})
	if err == nil {
		k.all = all
		return
	}
	if k.mine == nil {
		k.mine = err
	}
}

// findAll maps the memory that the others offer, if all do.
func (k *creation) findAll(ctx context.Context) {
	if k.mine != nil || k.all == nil {
		return
	}
	mine := &k.all[k.me]
	for _, o := range k.all {
		if o.Own != mine.Own {
			k.mine = fmt.Errorf("%w: memory of the program, and of the library", comm.ErrMismatch)
			return
		}
		if o.Bulk != mine.Bulk {
			k.mine = fmt.Errorf("%w: with Bulk, and without", comm.ErrMismatch)
			return
		}
		if o.Code != mine.Code || o.Notifications != mine.Notifications {
			k.mine = fmt.Errorf("%w: %s and %s, %d and %d counters of notifications", comm.ErrMismatch,
				byteview.CodeName(mine.Code), byteview.CodeName(o.Code), mine.Notifications, o.Notifications)
			return
		}
	}
	if slices.ContainsFunc(k.all, func(o contribution) bool { return !o.Fine }) {
		return // the agreement fails
	}
	for rank := range k.all {
		if k.mine = k.find(rank); k.mine != nil {
			if errors.Is(k.mine, comm.ErrProcFailed) && !k.awaitDeath(ctx, rank) {
				k.mine = comm.ErrRevoked
			}
			return
		}
	}
}

// awaitDeath waits until this member knows of the death of a member whose memory was missing.
// Otherwise the agreement might not contain this death, and the others would take this member's no
// for a wrong argument. awaitDeath also ends if ctx ends, or if this process makes no more calls.
// awaitDeath returns false if the window is revoked first: a member whose context ends withdraws
// its memory, too, and revokes the window.
func (k *creation) awaitDeath(ctx context.Context, rank int) bool {
	for {
		switch now := k.watch.Look(); {
		case slices.Contains(now.Dead, rank) || now.Err != nil || ctx.Err() != nil:
			return true
		case now.Revoked:
			return false
		}
		k.watch.Yield()
	}
}

// find maps the memory that one member offers.
func (k *creation) find(rank int) (err error) {
	o, p := &k.all[rank], &k.pieces[rank]
	p.n = int(min(o.Elements, math.MaxInt/uint64(max(k.unit, 1))))
	if k.isAway(rank) {
		if k.spec.own && k.watch.IsNear(rank) {
			p.source = window.SourceAt(o.Place, o.Data.Token)
		}
		return nil
	}
	if rank != k.me {
		if p.memory, err = k.findRegion(o.Data); err == nil {
			p.says, err = k.findRegion(o.Control)
		}
	}
	if err != nil && (!k.watch.Processes() || window.IsGone(o.Data.Pid) || window.IsWithdrawn(err)) {
		// The member was killed since its offer; that may not be known here yet. A goroutine rank
		// that is killed returns from its call, and its offer is garbage then. A live process has
		// withdrawn its offer because its context has ended: that process has revoked the window
		// before (see agree), and awaitDeath finds the revocation.
		return &comm.Error{Op: k.spec.op, Comm: k.name, Ranks: []int{rank}, Err: comm.ErrProcFailed}
	}
	if err != nil {
		return err
	}
	bytes := o.Elements * uint64(k.unit)
	if bytes > uint64(len(p.memory.Bytes())) || window.ControlBytes(k.n, k.spec.notifications, k.spec.bulk) > len(p.says.Bytes()) {
		return fmt.Errorf("%w: rank %d", window.ErrForeign, rank)
	}
	p.data = p.memory.Bytes()[:bytes:bytes]
	p.control = window.ControlOf(p.says, k.n)
	p.stripes = k.stripesOf(p.control)
	return nil
}

// stripesOf returns the locks of a member's elements, if there are any.
func (k *creation) stripesOf(c window.Control) *stripes {
	if !k.spec.bulk {
		return nil
	}
	return &stripes{k.watch, k.numbers, c}
}

func (k *creation) findRegion(o window.Offer) (*window.Region, error) {
	if !k.watch.Processes() {
		return window.FindHeap(o)
	}
	if r := k.spec.old.regionOf(o.Token); r != nil {
		return r.Retain(), nil
	}
	r, err := window.Find(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", comm.ErrNoRoom, err)
	}
	return r, nil
}

// The flag of the agreement: bit 0 is the vote of all members. Each of the first ranked members
// that votes no clears a bit of its own. A member that votes no because of a revocation clears the
// last bit, since other members may not have learned of the revocation yet:
//
//	0                              1
//	offers its memory              offers its memory, has all offers
//	the communicator is revoked
//	votes no, returns ErrRevoked   votes yes; the revocation comes later
const (
	ranked      = 62
	unrevokedAt = 63
)

// agree ends the creation: nil at all, or an error at all. The contribution is immediate: a member
// that gives up the wait has been counted, and revokes the window that the others may have.
func (k *creation) agree(ctx context.Context) error {
	flag := ^uint64(0)
	if k.mine != nil {
		flag = ^uint64(1)
		if k.me < ranked {
			flag &^= 1 << (k.me + 1)
		}
		if errors.Is(k.mine, comm.ErrRevoked) {
			flag &^= 1 << unrevokedAt
		}
	}
	_, err := k.c.Iagree(&flag).Wait(ctx)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		_ = k.c.Revoke() // Revoke fails only at a process that is fenced or has called Finalize
		return k.failBy(k.spec.op, err)
	case err == nil && flag&1 != 0:
		return nil
	case k.mine != nil && !comm.Recoverable(k.mine):
		return k.failBy(k.spec.op, k.mine)
	case err != nil:
		return k.failBy(k.spec.op, err)
	}
	switch {
	case k.mine != nil:
		return k.failBy(k.spec.op, k.mine)
	case flag>>unrevokedAt&1 == 0:
		return k.fail(k.spec.op, nil, comm.ErrRevoked)
	}
	return k.fail(k.spec.op, k.guilty(flag), comm.ErrPeerArgument)
}

// guilty returns the ranks that have reported an error.
func (k *creation) guilty(flag uint64) (ranks []int) {
	for rank := range min(k.n, ranked) {
		if flag>>(rank+1)&1 == 0 {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// giveUp undoes a creation that has failed.
func (k *creation) giveUp() {
	k.watch.Close(k.releaser())
	_ = k.c.Free() // the creation has failed with an error of its own
}
