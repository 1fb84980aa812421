package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// mortal has as many ranks die, one in each attempt, as its argument says. The rest wait for the
// dead one in a barrier.
func mortal(ctx context.Context, w *comm.Comm) error {
	deaths, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return err
	}
	return recovery.Run(ctx, w, recovery.Config{Every: 1, Shortage: recovery.ShortageStop}, func(ctx context.Context, w *recovery.World) error {
		total := w.Rank()
		if _, err := w.Protect(ctx, recovery.Value("total", &total)); err != nil {
			return err
		}
		died := w.Attempt() - 1
		total += died
		if err := w.CommitNow(ctx); err != nil { // that is progress: else recovery.ErrNoProgress would end the job
			return err
		}
		if died < deaths {
			if w.Rank() == 5*died%w.Size() {
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			return collectives.Barrier(ctx, w.Comm())
		}
		sum, err := collectives.AllreduceOne(ctx, w.Comm(), total, collectives.Sum)
		if err == nil && w.Rank() == 0 {
			fmt.Println("result:", died, sum)
		}
		return err
	})
}
