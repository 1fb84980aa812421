package shmem

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// A lock is the first element of a symbol, at PE 0 of the heap (not of a team). The element names
// its holder: 0 is free; otherwise
//
//	bits 0 to 39   the number of the process that has the lock, plus 1
//	bits 40 to 61  number of repairs of the heap: a lock from before the last repair is free
//	bit 62         a PE waits: the release wakes all
//
// So no store is needed to detect a holder's death: the word names a dead process. A process has
// the lock once; its goroutines exclude each other, too.
const (
	lockHolder  = 1<<40 - 1
	lockRepairs = 40
	lockWaiting = 1 << 62
)

// Lock waits for a lock and acquires the lock exclusively (shmem_set_lock). The first element of
// the object lock is the lock; the object has no other use. Stores that earlier holders made under
// the lock are visible when Lock returns. A lock belongs to the whole heap, also when the symbol is
// that of a team. Waiting PEs get the lock in no order.
//
// A PE that dies with a lock leaves the lock broken. Each Lock, waiting or later, then returns
// comm.ErrProcFailed with the dead PE, until a PE calls Mend, repairs the protected data, and
// unlocks. PE 0 of the heap stores all locks: after its death each Lock returns comm.ErrProcFailed,
// too. After a Repair of the heap all its locks are free.
//
// Other errors: comm.ErrRevoked, comm.ErrFreed, rma.ErrBounds for an object without elements; if
// ctx ends the wait is withdrawn.
func (h *Heap) Lock(ctx context.Context, lock Sym[int64]) error {
	return h.setLock(ctx, "lock", lock, false)
}

// Mend is Lock that also acquires a lock that a dead PE has left broken. Errors as of Lock.
func (h *Heap) Mend(ctx context.Context, lock Sym[int64]) error {
	return h.setLock(ctx, "mend", lock, true)
}

// TestLock acquires a lock if the lock is free, and reports whether the lock was acquired. Errors
// as of Lock (shmem_test_lock).
func (h *Heap) TestLock(ctx context.Context, lock Sym[int64]) (bool, error) {
	l, err := h.lockOf("test_lock", lock)
	if err != nil {
		return false, err
	}
	got, err := l.try(ctx, false)
	return got, l.told(err)
}

// Unlock is Quiet, and releases a lock (shmem_clear_lock). Errors: rma.ErrNotHeld; those of Lock,
// if the lock cannot be released.
func (h *Heap) Unlock(ctx context.Context, lock Sym[int64]) error {
	l, err := h.lockOf("unlock", lock)
	if err != nil {
		return err
	}
	if err := h.root.win.FlushAll(ctx); err != nil && !errors.Is(err, comm.ErrProcFailed) {
		return err
	}
	word, back, err := l.w.At(0).CompareAndSwap(ctx, l.at, l.mine, 0)
	if back || err != nil {
		return err
	}
	if word != l.mine|lockWaiting {
		return l.h.raise(l.h.fail(l.op, nil, fmt.Errorf("%w: this PE does not hold the lock", rma.ErrNotHeld)))
	}
	if _, _, err = l.w.At(0).CompareAndSwap(ctx, l.at, word, 0); err != nil { // no other PE changes the word
		return err
	}
	for pe := range l.h.PEs() {
		_, _ = l.h.wake.At(pe).FetchAndOp(ctx, 0, 1, collectives.Sum) // the dead do not wait
	}
	return nil
}

// lockWord is a lock as accessed by this PE.
type lockWord struct {
	op   string
	h    *Heap // the heap of the lock, not a team
	w    *rma.Win[int64]
	at   int
	mine int64 // the word when this PE holds the lock
	dead []int // the holder that has died
}

func (h *Heap) lockOf(op string, lock Sym[int64]) (l lockWord, err error) {
	switch {
	case lock.isOutside(0, 1):
		return l, h.raise(lock.outside(op, 0, 0, 1))
	case lock.h.kin != h.kin || lock.h.root != h.root:
		return l, h.raise(h.fail(op, nil, fmt.Errorf("%w: a lock of another heap", comm.ErrArgument)))
	}
	if lock.h != h.root {
		if lock, err = lock.On(h.root); err != nil {
			return l, err
		}
	}
	return lockWord{op: op, h: h.root, w: lock.w, at: lock.at, mine: h.root.holder}, nil
}

// setLock waits until this PE has a lock.
func (h *Heap) setLock(ctx context.Context, op string, lock Sym[int64], mend bool) error {
	l, err := h.lockOf(op, lock)
	if err != nil {
		return err
	}
	got, err := l.try(ctx, mend)
	if got || err != nil {
		return l.told(err)
	}
	return l.wait(ctx, mend)
}

// wait is the rest of setLock when another holder has the lock.
func (l lockWord) wait(ctx context.Context, mend bool) (err error) {
	_, waited := l.h.wake.Wait(ctx, 0, func(uint64) bool {
		var got bool
		got, err = l.try(ctx, mend)
		if err == nil && !got {
			err = l.announce(ctx)
		}
		return got || err != nil
	}, 0)
	if err == nil {
		return waited
	}
	return l.told(err)
}

// errBroken is the error of try for a lock whose holder has died.
var errBroken = fmt.Errorf("%w: it held the lock", comm.ErrProcFailed)

// told raises an error of try; those of package rma have been raised.
func (l *lockWord) told(err error) error {
	if errors.Is(err, errBroken) {
		return l.h.raise(l.h.fail(l.op, l.dead, err))
	}
	return err
}

// try acquires the lock if the lock is free; with mend, also if its holder is dead.
func (l *lockWord) try(ctx context.Context, mend bool) (got bool, err error) {
	t := l.w.At(0)
	word, _, err := t.CompareAndSwap(ctx, l.at, 0, l.mine)
	for err == nil && word != 0 {
		if !l.isOld(word) {
			dead := l.holderIfDead(word)
			if dead == nil {
				return false, nil
			}
			if !mend {
				l.dead = dead
				return false, errBroken
			}
		}
		var took bool
		now := l.mine | word&lockWaiting
		if l.isOld(word) {
			now = l.mine
		}
		if word, took, err = t.CompareAndSwap(ctx, l.at, word, now); took {
			return true, err
		}
		if err == nil && word == 0 {
			word, _, err = t.CompareAndSwap(ctx, l.at, 0, l.mine)
		}
	}
	return err == nil, err
}

// announce makes the holder wake the waiting PEs at the release of the lock.
func (l *lockWord) announce(ctx context.Context) error {
	word, err := l.w.At(0).Load(ctx, l.at)
	if err == nil && word != 0 && word&lockWaiting == 0 {
		_, _, err = l.w.At(0).CompareAndSwap(ctx, l.at, word, word|lockWaiting)
	}
	return err
}

// isOld reports whether a word dates from before the last repair, or is not that of a lock.
func (l *lockWord) isOld(word int64) bool {
	return word&^lockWaiting>>lockRepairs != l.h.repairs || word&lockHolder == 0
}

// holderIfDead returns the PE that a word names if that PE is dead, otherwise nil.
func (l *lockWord) holderIfDead(word int64) []int {
	pe := l.h.win.Comm().RankOf(int(word&lockHolder) - 1)
	if slices.Contains(l.h.Failed(), pe) {
		return []int{pe}
	}
	return nil
}
