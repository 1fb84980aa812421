package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// acked returns the number of deaths that this member has acknowledged.
func (s *step) acked() int {
	n, _ := s.c.AckFailed(0)
	return n
}

// wild returns the wildcard source. After a member has acknowledged a death, its wildcard receives
// ignore the death, and would wait for the dead rank for ever. Then wild returns an error.
func (s *step) wild() (int, error) {
	if s.acked() > 0 {
		return 0, fmt.Errorf("deaths were acknowledged here: %w", ulfm.ErrProcFailed)
	}
	return comm.Any, nil
}

// receiveAny receives a peer's message with a wildcard source, and continues when other ranks die.
func receiveAny(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size)
	r := comm.Irecv(s.from(comm.Any, 0), in)
	for {
		// Checked first: a peer whose death is acknowledged here interrupts nothing.
		if s.isDead(peer) {
			if r.Cancel() {
				return fmt.Errorf("the peer is dead: %w", ulfm.ErrProcFailed)
			}
		}
		st, err := r.Wait(s.ctx)
		switch classify(err) {
		case "":
			return s.got(st, in, peer, size)
		case classPending:
			if s.isDead(peer) {
				r.Cancel()
				return fmt.Errorf("the peer is dead: %w", ulfm.ErrProcFailed)
			}
			if _, err := s.c.AckFailed(s.c.Size()); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (s *step) isDead(rank int) bool {
	return slices.Contains(s.c.GetFailed().Processes(), s.g.procs[rank])
}
