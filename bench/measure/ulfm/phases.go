package ulfm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/harness/record"
	"github.com/goulfm/goulfm/ulfm"
	"golang.org/x/sys/unix"
)

// A bench is one rank's part.
type bench struct {
	options
	w   *comm.Comm
	out *record.Writer
	die func()
}

func (b *bench) run(ctx context.Context) error {
	if b.w.Size() < 2 {
		return errors.New("ulfm: want at least 2 ranks, one of them to die: goulfm run -n 2 ./bench/measure ulfm")
	}
	// A communicator of its own, as a library would have.
	c, err := b.w.Dup(ctx)
	if err != nil {
		return err
	}
	if err := b.series(ctx, c, "agree", "allreduce_before"); err != nil {
		return err
	}
	s, err := b.death(ctx, c)
	if err != nil {
		return err
	}
	if err := b.series(ctx, s, "agree_shrunk", "allreduce_shrunk"); err != nil {
		return err
	}
	return b.revocation(ctx, s)
}

// series is agreements and, for comparison, reductions of 8 bytes.
func (b *bench) series(ctx context.Context, c *comm.Comm, agree, allreduce string) error {
	sum := make([]float64, 2)
	err := b.measure(agree, func() error {
		got, err := c.Agree(ctx, ^uint64(0))
		if err == nil && got != ^uint64(0) {
			err = fmt.Errorf("ulfm: agreed on %x instead of all bits", got)
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.measure(allreduce, func() error {
		sum[0] = 1
		err := collectives.Allreduce(ctx, c, sum[1:], sum[:1], collectives.Sum)
		if err == nil && sum[1] != float64(c.Size()) {
			err = fmt.Errorf("ulfm: the sum is %v instead of %d", sum[1], c.Size())
		}
		return err
	})
}

// measure times calls that wait for all; one of them before each batch brings the
// ranks together.
func (b *bench) measure(name string, call func() error) error {
	iters := b.itersOf(b.w.Size())
	us := make([]float64, b.batches)
	for i := range us {
		if err := call(); err != nil {
			return err
		}
		start := time.Now()
		for range iters {
			if err := call(); err != nil {
				return err
			}
		}
		us[i] = micros(time.Since(start)) / float64(iters)
	}
	return b.write(name, us...)
}

// death makes the last rank die, and repairs. It returns the communicator of the survivors.
func (b *bench) death(ctx context.Context, c *comm.Comm) (*comm.Comm, error) {
	at, err := b.announce(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := ready(ctx, c); err != nil {
		return nil, err
	}
	if c.Rank() == c.Size()-1 {
		spinUntil(at)
		b.die()
	}
	_, err = comm.Recv(ctx, c.From(comm.Any).Tag(77), make([]int32, 1))
	us := []float64{sinceMicros(at)}
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return nil, fmt.Errorf("ulfm: the receive from anybody returned %w instead of a process failure", err)
	}

	start := time.Now()
	_, err = c.Agree(ctx, 1)
	us = append(us, micros(time.Since(start)))
	if !errors.Is(err, ulfm.ErrProcFailed) {
		return nil, fmt.Errorf("ulfm: the agreement after the death returned %w instead of a process failure", err)
	}

	start = time.Now()
	if _, err = c.AckFailed(c.Size()); err == nil {
		_, err = c.Agree(ctx, 1)
	}
	us = append(us, micros(time.Since(start)))
	if err != nil {
		return nil, fmt.Errorf("ulfm: the agreement after the acknowledgement: %w", err)
	}

	start = time.Now()
	s, err := c.Shrink(ctx)
	us = append(us, micros(time.Since(start)))
	if err != nil {
		return nil, err
	}
	return s, b.slowest(ctx, s, us, "detect", "agree_detecting", "ack_agree", "shrink")
}

// ready lets the last rank wait until all others know the moment of its death. If the last rank
// died before, their announcement would fail instead of their receive.
func ready(ctx context.Context, c *comm.Comm) error {
	victim, token := c.Size()-1, make([]byte, 1)
	if c.Rank() != victim {
		return comm.Send(ctx, c.To(victim), token)
	}
	for r := range victim {
		if _, err := comm.Recv(ctx, c.From(r), token); err != nil {
			return err
		}
	}
	return nil
}

// revocation makes rank 0 revoke while all others wait for a message from rank 0.
func (b *bench) revocation(ctx context.Context, s *comm.Comm) error {
	r, err := s.Dup(ctx)
	if err != nil {
		return err
	}
	at, err := b.announce(ctx, s)
	if err != nil {
		return err
	}
	if s.Rank() == 0 {
		spinUntil(at)
		if err := r.Revoke(); err != nil {
			return err
		}
	}
	_, err = comm.Recv(ctx, r.From(0).Tag(5), make([]int32, 1))
	us := []float64{sinceMicros(at)}
	if !errors.Is(err, ulfm.ErrRevoked) {
		return fmt.Errorf("ulfm: the receive on the revoked communicator returned %w", err)
	}
	return b.slowest(ctx, s, us, "revoke")
}

// announce sends all members of c the same moment in the future.
func (b *bench) announce(ctx context.Context, c *comm.Comm) (ns int64, err error) {
	if err := collectives.Barrier(ctx, c); err != nil {
		return 0, err
	}
	at := []int64{nowNs() + b.lead.Nanoseconds()}
	err = collectives.Bcast(ctx, c, 0, at)
	return at[0], err
}

// slowest writes each figure of the slowest member.
func (b *bench) slowest(ctx context.Context, c *comm.Comm, us []float64, names ...string) error {
	if err := collectives.Allreduce(ctx, c, us, us, collectives.Max); err != nil {
		return err
	}
	for i, name := range names {
		if err := b.write(name, us[i]); err != nil {
			return err
		}
	}
	return nil
}

// write reports n as the job's size, also for the survivors' figures: the rows of
// a run belong together.
func (b *bench) write(name string, us ...float64) error {
	return b.out.Write(record.Record{Bench: name, N: b.w.Size(), Unit: record.Micros, Batches: us})
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// nowNs reads the clock that all processes of the machine share.
func nowNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // the clock exists on every system that this builds for
	}
	return ts.Nano()
}

func sinceMicros(ns int64) float64 { return float64(nowNs()-ns) / 1e3 }

func spinUntil(ns int64) {
	for nowNs() < ns {
	}
}
