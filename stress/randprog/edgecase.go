package main

import (
	"errors"

	"github.com/goulfm/goulfm/comm"
)

func truncated(s *step, peer int, first bool) error {
	size := 1 + s.length()
	if first {
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	in := make([]uint64, size/2)
	_, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	switch {
	case errors.Is(err, comm.ErrTruncated):
		return took(s, in, peer, 0)
	case err == nil:
		return s.broken("%d numbers fit into %d", size, len(in))
	}
	return err
}

// runNobody sends to comm.None, and to itself.
func runNobody(s *step) error {
	st, err := comm.SendRecv(s.ctx, s.to(comm.None, 0), s.words(9), s.from(comm.None, 0), make([]uint64, 9))
	if err == nil && (st.Count != 0 || st.Source != comm.None) {
		return s.broken("%d numbers from nobody, from %d", st.Count, st.Source)
	}
	if err != nil {
		return err
	}
	size, me := s.length(), s.c.Rank()
	var b bundle
	b.send(s, me, 1, size, one(s.own, 2))
	b.receive(s, me, 1, size)
	return b.waitEach(s, size)
}

// runWrongArguments makes calls that fail locally.
func runWrongArguments(s *step) error {
	for _, c := range []struct {
		err, want error
	}{
		{comm.Send(s.ctx, s.to(s.c.Size(), 0), s.words(3)), comm.ErrRank},
		{comm.Send(s.ctx, s.c.To(0).Tag(-1), s.words(3)), comm.ErrTag},
	} {
		if class := classify(c.err); class == classRevoked || class == classFenced {
			return c.err
		}
		if !errors.Is(c.err, c.want) {
			return s.broken("a wrong argument: %v, want %v", c.err, c.want)
		}
	}
	return nil
}
