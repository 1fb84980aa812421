package main

import (
	"errors"

	"github.com/goulfm/goulfm/comm"
)

// persistent starts a send and a receive several times.
func persistent(s *step, peer int, _ bool) error {
	size := s.length()
	in := make([]uint64, size)
	out := comm.SendInit(s.to(peer, 0), s.words(size))
	back := comm.RecvInit(s.from(peer, 0), in)
	defer func() { _, _ = out.Free(), back.Free() }()
	for range 1 + s.rng.IntN(4) {
		clear(in)
		if err := errors.Join(back.Start(), out.Start()); err != nil {
			return err
		}
		st, err := back.Wait(s.ctx)
		_, err2 := out.Wait(s.ctx)
		for _, e := range []error{err, err2} {
			if e != nil {
				return errors.Join(s.blamed(e, peer), e)
			}
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

// isendLater leaves a send and a receive under way.
func isendLater(s *step, peer int, _ bool) error {
	size := s.length()
	b := new(bundle)
	b.receive(s, peer, 0, size)
	b.send(s, peer, 0, size, one(s.rng, 2))
	s.m.later(s, func(s *step) error { return b.waitEach(s, size) })
	return nil
}

// freeRequest sends and never waits.
func freeRequest(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		r := comm.Isend(s.to(peer, 0), s.words(size))
		if err := r.Free(); err != nil && !errors.Is(err, comm.ErrInactive) {
			return err
		}
		return nil
	}
	in := make([]uint64, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	return s.got(st, in, peer, size)
}

// runNeverReceived sends a message that no rank receives, and does not wait: without free room a
// send of any length waits for its receive.
func runNeverReceived(s *step) error {
	r := comm.Isend(s.to(s.own.IntN(s.c.Size()), 0), s.words(3))
	if err := r.Free(); !errors.Is(err, comm.ErrInactive) {
		return err
	}
	return nil
}

// runCancel cancels a receive without a matching send.
func runCancel(s *step) error {
	peer := s.own.IntN(s.c.Size())
	source := peer
	if one(s.own, 2) {
		source = comm.Any
	}
	r := comm.Irecv(s.from(source, 0), make([]uint64, 5))
	if r.Cancel() {
		if _, err := r.Wait(s.ctx); err != nil && !errors.Is(err, comm.ErrInactive) {
			return s.broken("a wait for a cancelled receive: %v", err)
		}
		return nil
	}
	_, over, err := r.Test()
	if err == nil {
		return s.broken("a receive without a matching send was not cancelled; over: %v", over)
	}
	if classify(err) == classPending {
		r.Cancel()
	}
	return err
}
