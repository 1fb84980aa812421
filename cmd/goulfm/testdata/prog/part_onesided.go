package main

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// makeWindow allocates a window that later parts use.
func makeWindow(x *trial) (err error) {
	x.w, err = rma.Allocate[uint64](x.ctx, x.c, 4, rma.Notifications(1))
	return err
}

// windows makes windows, which all survivors get or none, and gives them back.
func windows(x *trial) error {
	for range 2 {
		w, err := rma.Allocate[uint32](x.ctx, x.c, 10)
		x.created(err)
		if err != nil {
			return err
		}
		me, n := x.c.Rank(), x.c.Size()
		next := w.At((me + 1) % n)
		err = errors.Join(next.Put(x.ctx, me, []uint32{uint32(me) + 1}), w.Fence(x.ctx))
		before := (me + n - 1) % n
		if got := w.Local()[before]; err == nil && got != uint32(before)+1 {
			return fmt.Errorf("wrong data: rank %d has put %d", before, got)
		}
		if err := errors.Join(err, w.Free()); err != nil {
			return err
		}
	}
	return nil
}

// windowLocks has all add to two elements of rank 0 under its lock. A survivor that is told that
// the lock is broken mends.
func windowLocks(x *trial) error {
	t := x.w.At(0)
	for range 4 {
		err := t.Lock(x.ctx, rma.LockExclusive)
		mends := errors.Is(err, comm.ErrProcFailed)
		if mends {
			err = t.Lock(x.ctx, rma.LockMend) // it fails, too, if rank 0 is dead
		}
		if err != nil {
			return err
		}
		v := make([]uint64, 2)
		if err := t.Get(x.ctx, 0, v); err != nil {
			return err
		}
		if v[0] != v[1] && !mends {
			return fmt.Errorf("wrong data: %v under a lock that is whole", v)
		}
		err = errors.Join(t.Put(x.ctx, 0, []uint64{v[0] + 1}), t.Put(x.ctx, 1, []uint64{v[0] + 1}), t.Unlock(x.ctx))
		if err != nil {
			return err
		}
	}
	return nil
}

// windowNotes has each rank put to the next one and tell it, and count at rank 0.
func windowNotes(x *trial) error {
	me, n := x.c.Rank(), x.c.Size()
	before := (me + n - 1) % n
	for round := range uint64(4) {
		next := x.w.At((me + 1) % n)
		if err := next.PutNotify(x.ctx, 2, []uint64{round + 1}, 0); err != nil {
			return err
		}
		if _, err := x.w.At(0).FetchAndOp(x.ctx, 3, 1, collectives.Sum); err != nil {
			return err
		}
		if err := x.w.WaitNotify(x.ctx, 0, round+1, before); err != nil {
			return err
		}
		if got, err := x.w.At(me).Load(x.ctx, 2); err != nil || got < round+1 {
			return fmt.Errorf("wrong data: notified of %d, got %d: %w", round+1, got, err)
		}
	}
	return nil
}

// windowEpochs has neighbours on a ring put to each other in epochs.
func windowEpochs(x *trial) error {
	me, n := x.c.Rank(), x.c.Size()
	right, left := (me+1)%n, (me+n-1)%n
	g, err := x.c.Group().Incl(right)
	if err != nil {
		return err
	}
	from, err := x.c.Group().Incl(left)
	if err != nil {
		return err
	}
	for round := range uint64(3) {
		// Who goes on to Complete after a Put that has failed, as by the revocation of one who
		// knows of a death, says to the target that all has taken effect.
		for _, step := range []func() error{
			func() error { return x.w.Post(x.ctx, from) },
			func() error { return x.w.Start(x.ctx, g) },
			func() error { return x.w.At(right).Put(x.ctx, 0, []uint64{100*round + uint64(me)}) },
			func() error { return x.w.Complete(x.ctx) },
			func() error { return x.w.WaitPosted(x.ctx) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		if got := x.w.Local()[0]; got != 100*round+uint64(left) {
			return fmt.Errorf("wrong data: %d in round %d", got, round)
		}
	}
	return nil
}
