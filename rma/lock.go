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

// LockMode is the mode of a lock.
type LockMode uint8

// The modes of Lock.
const (
	LockShared    LockMode = iota + 1 // with others that share it
	LockExclusive                     // alone
	LockMend                          // alone, also if a dead holder has left the lock broken
)

// String returns "shared", "exclusive" or "mend", and "mode N" for an invalid mode.
func (m LockMode) String() string {
	if m < LockShared || m > LockMend {
		return fmt.Sprintf("mode %d", uint8(m))
	}
	return robustlock.Mode(m).String()
}

// The modes are those of robustlock. This does not compile if the numbers of Shared or of Mend
// differ, unless both of robustlock are greater by the same number.
var _ [robustlock.Shared - robustlock.Mode(LockShared)]struct{} = [robustlock.Mend - robustlock.Mode(LockMend)]struct{}{}

// guard is this process's part in the lock of one target. Goroutines of a process take turns.
type guard struct {
	turn uint64 // free, taken or held
	lock *robustlock.Lock
}

// The states of a guard's turn.
const (
	turnFree  uint64 = iota
	turnTaken        // a goroutine is acquiring or releasing the lock
	turnHeld         // the lock is held
)

// take gives the calling goroutine the turn, if the turn is free.
func (g *guard) take() bool { return atomic.CompareAndSwapUint64(&g.turn, turnFree, turnTaken) }

// got notes that the lock is held. No other goroutine stores while the turn is taken, so got needs
// no exchange.
func (g *guard) got() { publish.Word(&g.turn, turnHeld) }

// members are the possible holders of a lock, as robustlock expects them. A name is the number of a
// process plus 1: numbers are never used twice.
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

// Lock acquires the lock of a target, and waits for the lock. The program chooses the data that the
// lock protects: accesses need no lock, and accesses of members without the lock continue. In one
// process one goroutine at a time has the lock of a target, in any mode; any of its goroutines may
// unlock (MPI 12.5.3, MPI_Win_lock).
//
// A member that dies with a share leaves no trace (W10). One that dies with an exclusive lock
// leaves the target broken. Each Lock there in mode LockShared or LockExclusive, waiting or later,
// then returns comm.ErrProcFailed with the dead holder, until a member locks in mode LockMend,
// repairs the protected data, and unlocks (W11). If the target itself is dead the error is
// comm.ErrProcFailed with its rank (W13). The death of a waiting member breaks nothing (W12); only
// a member that has its turn, and waits for sharers to leave, counts as the holder.
//
// Other errors: comm.ErrArgument for an invalid mode, comm.ErrRank, comm.ErrRevoked, comm.ErrFreed,
// comm.ErrFenced; if ctx ends the wait is withdrawn.
func (t Target[T]) Lock(ctx context.Context, m LockMode) error {
	return t.k.raise(t.k.lockTarget(ctx, "lock", t.rank, m))
}

// Unlock releases the lock of a target. The next holder sees all stores to this target made under
// the lock (MPI 12.5.3, MPI_Win_unlock): all earlier operations on this target have taken effect,
// as after a Flush. An operation on another target whose memory is not shared needs a Flush there.
// If memory is shared Unlock does not wait.
//
// Errors: ErrNotHeld, comm.ErrRank, comm.ErrFreed. This member no longer holds the lock also if the
// error is comm.ErrProcFailed (the target is dead), comm.ErrRevoked, comm.ErrFenced, or that of a
// ctx that ends before the target's answer.
func (t Target[T]) Unlock(ctx context.Context) error {
	return t.k.raise(t.k.unlockTarget(ctx, "unlock", t.rank))
}

// LockAll acquires a share of every target's lock, in the order of ranks (MPI 12.5.3,
// MPI_Win_lock_all). If targets are dead or broken the error is comm.ErrProcFailed, which names
// those or the dead holders; the shares of all others are held then. Other errors are those of
// Lock, and comm.ErrArgument while another LockAll is not over: this call holds no share then.
func (w *Win[T]) LockAll(ctx context.Context) error { return w.k.raise(w.k.lockAll(ctx)) }

// UnlockAll releases the shares of LockAll (MPI 12.5.3, MPI_Win_unlock_all). Errors: ErrNotHeld
// without a LockAll, and if an Unlock has released one of the shares; comm.ErrProcFailed names the
// targets that have died since; others as of Unlock.
func (w *Win[T]) UnlockAll(ctx context.Context) error { return w.k.raise(w.k.unlockAll(ctx)) }

func (k *core) lockTarget(ctx context.Context, op string, rank int, m LockMode) error {
	if err := k.toward(ctx, op, rank); err != nil {
		return err
	}
	if m < LockShared || m > LockMend {
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
		return k.fail(op, nil, err) // this process is fenced: the turn is not needed any more
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
	mine := func() []int { return []int{k.me} } // another goroutine of this process has it
	return k.awaitOf(ctx, op, []int{rank}, mine, func() bool { return k.guards[rank].take() })
}

// lockSlowly continues with a lock that was not acquired at once.
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

// awaitLock waits until the state of a lock changes, or withdraws.
func (k *core) awaitLock(ctx context.Context, op string, rank int) (out robustlock.Outcome, err error) {
	l := k.guards[rank].lock
	var fenced error
	err = k.awaitOf(ctx, op, []int{rank}, l.Holders, func() bool {
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

// lockStep is a step of acquiring a lock that stores in shared memory and does not wait.
func (k *core) lockStep(do func() robustlock.Outcome) (robustlock.Outcome, error) {
	if err := k.watch.Enter(); err != nil {
		return robustlock.Idle, err
	}
	defer k.watch.Leave()
	return do(), nil
}

// free gives the turn at a lock to another goroutine of this process.
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
		err := k.far(rank).ask(ctx, op, &rmaserver.Frame{Op: rmaserver.Unlock}, nil) // as in MPI, all operations are complete after the unlock
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

// ringNext wakes the member that a target's lock was handed to, or the members that wait for a
// share and may now have one.
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

// ringWaiter wakes a member that waits for the lock of a target. A member that does not share this
// memory is woken by the target.
func (k *core) ringWaiter(rank, o int) {
	if k.isAway(o) {
		k.watch.Stir(rank)
		return
	}
	k.ring(o)
}

// allLocked are the shares of a LockAll.
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
		err := k.lockTarget(ctx, op, rank, LockShared)
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
			_ = k.unlockTarget(ctx, op, rank) // the first error is returned
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
	if ctx == nil {
		return k.fail(op, nil, errNoContext)
	}
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
