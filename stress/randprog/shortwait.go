package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/goulfm/goulfm/comm"
)

// shortWaits receives with waits that may end before the message arrives.
func shortWaits(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size)
	for {
		ctx, cancel := context.WithTimeout(s.ctx, s.shortly(s.own))
		st, err := comm.Recv(ctx, s.from(peer, 0), in)
		ended := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return s.got(st, in, peer, size)
		case s.ctx.Err() != nil || !ended || !errors.Is(err, context.DeadlineExceeded):
			return err
		}
	}
}

// waiters makes several goroutines of a rank wait at once. Some give up soon, and make no other
// call. The messages for the others arrive late, one after the other.
func waiters(s *step, peer int, first bool) error {
	count, size := 3+s.rng.IntN(4), s.length()
	soon := make([]bool, count)
	for k := range soon {
		soon[k] = one(s.rng, 2)
	}
	if first {
		for k := range count {
			if soon[k] {
				continue
			}
			s.pause()
			if err := comm.Send(s.ctx, s.to(peer, k), s.words(size)); err != nil {
				return err
			}
		}
		return nil
	}
	limits, errs := make([]time.Duration, count), make([]error, count)
	for k := range limits {
		limits[k] = s.shortly(s.own)
	}
	var all sync.WaitGroup
	for k := range count {
		all.Go(func() {
			if soon[k] {
				errs[k] = s.waitInVain(peer, k, limits[k])
				return
			}
			in := make([]uint64, size)
			st, err := comm.Recv(s.ctx, s.from(peer, k), in)
			if err == nil {
				err = s.got(st, in, peer, size)
			}
			errs[k] = err
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// waitInVain gives up a receive without a matching send.
func (s *step) waitInVain(peer, k int, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	_, err := comm.Recv(ctx, s.from(peer, k), make([]uint64, 1))
	switch {
	case err == nil:
		return s.broken("received a message that no rank sends")
	case errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil:
		return nil
	}
	return err
}

// shortly draws a short timeout.
func (s *step) shortly(rng *rand.Rand) time.Duration {
	return time.Duration(rng.IntN(200)) * time.Microsecond
}
