package main

import (
	"runtime"

	"github.com/goulfm/goulfm/comm"
)

// mprobe receives messages out of order.
func mprobe(s *step, peer int, first bool) error {
	const count = 3
	size := s.length()
	order := s.rng.Perm(count)
	if first {
		var b bundle
		for k := range count {
			b.send(s, peer, k, size, one(s.own, 2))
		}
		return b.waitEach(s, size)
	}
	taken := map[int]*comm.Message{}
	for _, k := range order {
		m, st, err := comm.Mprobe(s.ctx, s.from(peer, k))
		if err != nil {
			return err
		}
		if st.Count != 8*size || st.Tag != s.tag+k {
			return s.broken("mprobe of tag %d: %d bytes, tag %d, want %d bytes", s.tag+k, st.Count, st.Tag, 8*size)
		}
		taken[k] = m
	}
	var firstErr error
	for k := range count { // all of them: the sender may wait for each
		in := make([]uint64, size)
		st, err := comm.Mrecv(s.ctx, taken[k], in)
		switch {
		case err != nil && firstErr == nil:
			firstErr = err
		case err == nil:
			if err := s.got(st, in, peer, size); err != nil {
				return err
			}
		}
	}
	return firstErr
}

func iprobe(s *step, peer int, first bool) error {
	size := s.length()
	if first {
		s.pause()
		return comm.Send(s.ctx, s.to(peer, 0), s.words(size))
	}
	for {
		st, found, err := comm.Iprobe(s.from(peer, 0))
		if err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if found {
			if st.Count != 8*size {
				return s.broken("iprobe: %d bytes, want %d", st.Count, 8*size)
			}
			break
		}
		runtime.Gosched()
	}
	in := make([]uint64, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	return s.got(st, in, peer, size)
}
