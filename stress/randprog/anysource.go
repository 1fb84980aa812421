package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// acked is how many deaths this member has acknowledged.
func (s *step) acked() int {
	n, _ := s.c.AckFailed(0)
	return n
}

// wild is any rank as a sender. A member that has acknowledged a death is told no more
// of it, and would wait for the dead.
func (s *step) wild() (int, error) {
	if s.acked() > 0 {
		return 0, fmt.Errorf("deaths were acknowledged here: %w", ulfm.ErrProcFailed)
	}
	return comm.Any, nil
}

// receiveAny receives from any rank what one will send, and goes on when others die.
func receiveAny(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size)
	r := comm.Irecv(s.from(comm.Any, 0), in)
	for {
		// Looked at first: a peer whose death is acknowledged here interrupts nothing.
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
