package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

// windowsHang hangs in windows: ranks 0 and 1 lock each other's memory and ask for their own, ranks
// 2 to 5 wait for others that do nothing of the kind.
func windowsHang(ctx context.Context, w *comm.Comm) error {
	win, err := rma.Allocate[int64](ctx, w, 4, rma.Notifications(1))
	if err != nil {
		return err
	}
	me := w.Rank()
	if me < 2 {
		err = win.At(1-me).Lock(ctx, rma.LockExclusive)
	}
	if err == nil {
		err = collectives.Barrier(ctx, w)
	}
	if err != nil {
		return err
	}
	switch me {
	case 0, 1:
		return win.At(me).Lock(ctx, rma.LockShared)
	case 2:
		_, err = win.Wait(ctx, 0, func(v int64) bool { return v == 1 }, 0, 1)
	case 3:
		err = win.WaitNotify(ctx, 0, 2)
	case 4:
		group, _ := w.Group().Incl(2, 5)
		err = win.Start(ctx, group)
	case 5:
		err = win.Fence(ctx)
	}
	return err
}
