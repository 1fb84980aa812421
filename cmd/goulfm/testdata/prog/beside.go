package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/rma"
)

func init() {
	modes["lock-beside"] = lockBeside
	modes["send-beside"] = sendBeside
	modes["gather-beside"] = gatherBeside
}

// lockBeside has each of two ranks receive in one goroutine, while another one counts under a lock
// at rank 0. What is received is sent when the other rank has counted.
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
	if err := t.Lock(ctx, rma.LockExclusive); err != nil {
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

// sendBeside has rank 0 send more to rank 1 than may be under way, while another of its goroutines
// waits for the answer, which rank 1 sends when it has received all.
func sendBeside(ctx context.Context, w *comm.Comm) error {
	buf := make([]byte, 8<<20)
	return beside(ctx, w, 5, func() error {
		return comm.Send(ctx, w.To(1), buf)
	}, func() error {
		_, err := comm.Recv(ctx, w.From(0), buf)
		return err
	})
}

// gatherBeside has rank 0 start short sends to rank 1 while another of its goroutines waits,
// asleep, for the answer to the last of them.
func gatherBeside(ctx context.Context, w *comm.Comm) error {
	const messages = 3
	buf := make([]int, 1)
	return beside(ctx, w, 5, func() error {
		compute()
		for range messages {
			r := comm.Isend(w.To(1), buf)
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}, func() error {
		for range messages {
			if _, err := comm.Recv(ctx, w.From(0), buf); err != nil {
				return err
			}
		}
		return nil
	})
}

// beside has rank 0 call send in one goroutine while another one waits for the answer of rank 1,
// which comes after receive.
func beside(ctx context.Context, w *comm.Comm, rounds int, send, receive func() error) error {
	for range rounds {
		if w.Rank() == 1 {
			if err := errors.Join(receive(), comm.Send(ctx, w.To(0), []int{1})); err != nil {
				return err
			}
			continue
		}
		answered := make(chan error, 1)
		go func() {
			_, err := comm.Recv(ctx, w.From(1), make([]int, 1))
			answered <- err
		}()
		if err := errors.Join(send(), <-answered); err != nil {
			return err
		}
	}
	return nil
}
