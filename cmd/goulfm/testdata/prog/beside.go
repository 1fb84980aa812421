package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

func init() { modes["lock-beside"] = lockBeside }

// lockBeside has each of two ranks receive in one goroutine, while another one counts under a lock at rank 0. What is received is
// sent when the other rank has counted.
func lockBeside(ctx context.Context, w *comm.Comm) error {
	const times = 20
	win, err := rma.Allocate[int](ctx, w, 1)
	if err != nil {
		return err
	}
	other := 1 - w.Rank()
	received := make(chan error)
	go func() {
		_, err := comm.Recv(ctx, w.From(other), make([]int, 1))
		received <- err
	}()
	for range times {
		if err := countUnderLock(ctx, win.At(0)); err != nil {
			return err
		}
	}
	if err := errors.Join(comm.Send(ctx, w.To(other), []int{1}), <-received, win.Fence(ctx)); err != nil {
		return err
	}
	if w.Rank() == 0 {
		fmt.Printf("counted %d\n", win.Local()[0])
	}
	return win.Free()
}

func countUnderLock(ctx context.Context, t rma.Target[int]) error {
	if err := t.Lock(ctx, rma.Exclusive); err != nil {
		return err
	}
	n := make([]int, 1)
	err := t.Get(ctx, 0, n)
	n[0]++
	compute() // until who receives sleeps
	return errors.Join(err, t.Put(ctx, 0, n), t.Unlock(ctx))
}

// compute takes some milliseconds of one processor.
func compute() {
	for begun := time.Now(); time.Since(begun) < 5*time.Millisecond; {
	}
}
