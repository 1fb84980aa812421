package rma

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/net/rmaserver"
	"github.com/goulfm/goulfm/internal/protocol/robustlock"
	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/window"
)

// Mode is how a target is locked.
type Mode uint8

// The modes of Lock.
const (
	Shared    Mode = iota + 1 // with others that share it
	Exclusive                 // alone
	Mend                      // alone, also if a dead holder has left the lock broken
)

// String returns "shared", "exclusive" or "mend".
func (m Mode) String() string {
	if m < Shared || m > Mend {
		return fmt.Sprintf("mode %d", uint8(m))
	}
	return robustlock.Mode(m).String()
}

// The modes are those of hold: this does not compile else.
var _ [robustlock.Shared - robustlock.Mode(Shared)]struct{} = [robustlock.Mend - robustlock.Mode(Mend)]struct{}{}

// guard is this process's part in the lock of one target. Goroutines of a process have it in turns.
type guard struct {
	turn uint64 // free, taken or held
	lock *robustlock.Lock
}

// What a guard's turn is.
const (
	turnFree  uint64 = iota
	turnTaken        // a goroutine is on its way to the lock, or from it
	turnHeld         // the lock is held
)

// take has the calling goroutine get its turn, if nobody has it.
func (g *guard) take() bool { return atomic.CompareAndSwapUint64(&g.turn, turnFree, turnTaken) }

// got says that the lock is held. Nobody else stores while the turn is taken, so it takes no
// exchange.
func (g *guard) got() { publish.Word(&g.turn, turnHeld) }

// members is who may lock, as hold wants to know it. A name is the number of a process and 1:
// numbers are never used twice.
type members struct {
	k       *core
	numbers []int
}

func (m *members) Len() int          { return len(m.numbers) }
func (m *members) Name(o int) uint64 { return uint64(m.numbers[o]) + 1 }
func (m *members) Dead(o int) bool   { return m.k.sight.Load().dead[o] }
func (m *members) Origin(name uint64) (o int, ok bool) {
	for o, number := range m.numbers {
		if uint64(number)+1 == name {
			return o, true
		}
	}
	return 0, false
}

func (k *core) newGuards() {
	k.guards = make([]guard, k.n)
	for rank := range k.guards {
		if k.isAway(rank) {
			continue // the target makes this member's steps
		}
		memory := window.LockOf{Control: k.pieces[rank].control, Me: k.me}
		k.guards[rank].lock = robustlock.New(robustlock.Config{Memory: memory, Members: k.numbers, Me: k.me})
	}
}

// Lock gets the lock of a target, and waits for it. It protects what the program wants it to:
// accesses need no lock, and those of members that make none go on. Of one process one goroutine at
// a time has the lock of a target; any of its goroutines may unlock it (MPI 12.5.3, MPI_Win_lock).
//
// A member that dies with a share leaves nothing (W10). One that dies with an exclusive lock leaves
// the target broken: each Lock there, waiting or later, is comm.ErrProcFailed that names the dead
// holder, until somebody asks in mode Mend, repairs what the lock protects, and unlocks (W11). When
// the target itself is dead it is comm.ErrProcFailed with its rank (W13). The death of one who
// waits breaks nothing (W12); only one who has got its turn, and waits for sharers to leave, counts
// as the holder.
//
// Other errors: comm.ErrArgument for a mode that there is not, comm.ErrRank, comm.ErrRevoked,
// comm.ErrFreed; when ctx ends the wait is withdrawn.
func (t Target[T]) Lock(ctx context.Context, m Mode) error {
	return t.k.raise(t.k.lockTarget(ctx, "lock", t.rank, m))
}

// Unlock gives the lock of a target back. What was stored under it is there for the next who gets
// it (MPI 12.5.3, MPI_Win_unlock). Errors: ErrNotHeld; comm.ErrProcFailed when the target is dead,
// comm.ErrRevoked: the lock is given back all the same. All operations on the target before it have
// taken effect, as after a Flush; where memory is shared it does not wait.
func (t Target[T]) Unlock(ctx context.Context) error {
	return t.k.raise(t.k.unlockTarget(ctx, "unlock", t.rank))
}

// LockAll gets a share of every target's lock, in the order of ranks (MPI 12.5.3,
// MPI_Win_lock_all). When targets are dead or broken the error is comm.ErrProcFailed, which names
// those or the dead holders; the shares of all others are held then. With another error nothing is
// held.
func (w *Win[T]) LockAll(ctx context.Context) error { return w.k.raise(w.k.lockAll(ctx)) }

// UnlockAll gives back what LockAll has got (MPI 12.5.3, MPI_Win_unlock_all). Errors: ErrNotHeld
// without a LockAll; comm.ErrProcFailed names the targets that have died since.
func (w *Win[T]) UnlockAll(ctx context.Context) error { return w.k.raise(w.k.unlockAll(ctx)) }

func (k *core) lockTarget(ctx context.Context, op string, rank int, m Mode) error {
	if err := k.toward(ctx, op, rank); err != nil {
		return err
	}
	if m < Shared || m > Mend {
		return k.fail(op, nil, fmt.Errorf("%w: %v of a lock", comm.ErrArgument, m))
	}
	g := &k.guards[rank]
	if !g.take() {
		if err := k.awaitTurn(ctx, op, rank); err != nil {
			return err
		}
	}
	if k.isAway(rank) {
		err := k.far(rank).lock(ctx, op, m)
		if err != nil {
			k.free(g)
			return err
		}
		g.got()
		return nil
	}
	if err := k.watch.Enter(); err != nil {
		return k.fail(op, nil, err) // it is dead: nobody needs the turn
	}
	if pausepoint.Enabled {
		pausepoint.At("rma.locks")
	}
	out := g.lock.Lock(robustlock.Mode(m))
	k.watch.Leave()
	if out == robustlock.Held {
		g.got()
		return nil
	}
	return k.lockSlowly(ctx, op, rank, out)
}

// awaitTurn waits for this goroutine's turn among those of its process.
func (k *core) awaitTurn(ctx context.Context, op string, rank int) error {
	return k.await(ctx, op, []int{rank}, func() bool { return k.guards[rank].take() })
}

// lockSlowly goes on with a lock that was not got at once.
func (k *core) lockSlowly(ctx context.Context, op string, rank int, out robustlock.Outcome) (err error) {
	g := &k.guards[rank]
	if out == robustlock.Waiting {
		out, err = k.awaitLock(ctx, op, rank)
	}
	if err == nil && out == robustlock.Held {
		g.got()
		return nil
	}
	if err == nil { // broken
		err = k.failBroken(op, rank, g.lock.Dead())
	}
	k.free(g)
	return err
}

// failBroken is the error of a lock whose holder of that name is dead.
func (k *core) failBroken(op string, rank int, dead uint64) error {
	var ranks []int
	if o, ok := k.numbers.Origin(dead); ok {
		ranks = []int{o}
	}
	return k.fail(op, ranks, fmt.Errorf("%w: it held the lock of rank %d", comm.ErrProcFailed, rank))
}

// awaitLock waits until it stands otherwise with a lock, or withdraws.
func (k *core) awaitLock(ctx context.Context, op string, rank int) (out robustlock.Outcome, err error) {
	l := k.guards[rank].lock
	var fenced error
	err = k.await(ctx, op, []int{rank}, func() bool {
		out, fenced = k.lockStep(l.Look)
		return fenced != nil || out != robustlock.Waiting
	})
	if fenced != nil {
		return out, k.fail(op, nil, fenced)
	}
	if err != nil && l.Outcome() == robustlock.Waiting {
		_, _ = k.lockStep(func() robustlock.Outcome { l.Withdraw(); return robustlock.Idle })
		k.ringNext(rank)
	}
	return out, err
}

// lockStep is a part of a lock's way that stores in shared memory and does not wait.
func (k *core) lockStep(do func() robustlock.Outcome) (robustlock.Outcome, error) {
	if err := k.watch.Enter(); err != nil {
		return robustlock.Idle, err
	}
	defer k.watch.Leave()
	return do(), nil
}

// free lets another goroutine of this process have its turn at a lock.
func (k *core) free(g *guard) {
	atomic.StoreUint64(&g.turn, turnFree)
	k.ring(k.me)
}

func (k *core) unlockTarget(ctx context.Context, op string, rank int) error {
	switch {
	case ctx == nil:
		return k.fail(op, nil, errNoContext)
	case rank < 0 || rank >= k.n:
		return k.fail(op, nil, fmt.Errorf("%w: %d of %d", comm.ErrRank, rank, k.n))
	case k.sight.Load().freed:
		return k.fail(op, nil, comm.ErrFreed)
	}
	g := &k.guards[rank]
	if !atomic.CompareAndSwapUint64(&g.turn, turnHeld, turnTaken) {
		return k.fail(op, []int{rank}, fmt.Errorf("%w: this member does not hold the lock of rank %d", ErrNotHeld, rank))
	}
	if k.isAway(rank) {
		err := k.far(rank).ask(ctx, op, &rmaserver.Frame{Op: rmaserver.Unlock}, nil) // MPI's says that all is there
		k.free(g)
		return err
	}
	if err := k.watch.Enter(); err != nil {
		return k.fail(op, nil, err)
	}
	g.lock.Unlock()
	k.watch.Leave()
	k.ringNext(rank)
	k.free(g)
	return k.toward(ctx, op, rank)
}

// ringNext wakes whom a target's lock has been handed to, or waits for by now.
func (k *core) ringNext(rank int) {
	memory := window.LockOf{Control: k.pieces[rank].control, Me: k.me}
	next, readers := robustlock.Next(memory.Word())
	if o, ok := k.numbers.Origin(next); ok {
		k.ringWaiter(rank, o)
	}
	for o := 0; readers && o < k.n; o++ {
		if memory.Claim(o) == robustlock.Reading {
			k.ringWaiter(rank, o)
		}
	}
}

// ringWaiter wakes who waits for the lock of a target. For one that does not reach this memory the
// target does.
func (k *core) ringWaiter(rank, o int) {
	if k.isAway(o) {
		k.watch.Stir(rank)
		return
	}
	k.ring(o)
}

// allLocked is what a LockAll has got.
type allLocked struct {
	mu    sync.Mutex
	open  bool
	ranks []int
}

func (k *core) lockAll(ctx context.Context) error {
	const op = "lock_all"
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.all.open {
		return k.fail(op, nil, fmt.Errorf("%w: another LockAll is not over", comm.ErrArgument))
	}
	var got, lost []int
	for rank := range k.n {
		err := k.lockTarget(ctx, op, rank, Shared)
		if err == nil {
			got = append(got, rank)
			continue
		}
		e, ok := errors.AsType[*comm.Error](err)
		if ok && errors.Is(e.Err, comm.ErrProcFailed) {
			lost = append(lost, e.Ranks...)
			continue
		}
		for _, rank := range got {
			_ = k.unlockTarget(ctx, op, rank) // the first error is told
		}
		return err
	}
	k.all.open, k.all.ranks = true, got
	if len(lost) > 0 {
		return k.fail(op, lost, comm.ErrProcFailed)
	}
	return nil
}

func (k *core) unlockAll(ctx context.Context) error {
	const op = "unlock_all"
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if !k.all.open {
		return k.fail(op, nil, fmt.Errorf("%w: call LockAll first", ErrNotHeld))
	}
	var lost []int
	var other error
	for _, rank := range k.all.ranks {
		err := k.unlockTarget(ctx, op, rank)
		if e, ok := errors.AsType[*comm.Error](err); ok && errors.Is(e.Err, comm.ErrProcFailed) {
			lost = append(lost, e.Ranks...)
		} else if err != nil {
			other = err
		}
	}
	k.all.open, k.all.ranks = false, nil
	if other == nil && len(lost) > 0 {
		return k.fail(op, lost, comm.ErrProcFailed)
	}
	return other
}
