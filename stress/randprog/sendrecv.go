package main

import (
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// runShift sends to the rank at some distance up, and receives from the rank at the same distance
// down.
func runShift(s *step) error {
	n := s.c.Size()
	by := s.rng.IntN(n)
	to, from := (s.c.Rank()+by)%n, (s.c.Rank()+n-by)%n
	for k := range 1 + s.rng.IntN(tagsEach) {
		size, source := s.length(), from
		if one(s.rng, 2) {
			var err error
			if source, err = s.wild(); err != nil {
				return err
			}
		}
		in := make([]uint64, size)
		st, err := comm.SendRecv(s.ctx, s.to(to, k), s.words(size), s.from(source, k), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, from, size); err != nil {
			return err
		}
	}
	return nil
}

func swap(s *step, peer int, _ bool) error {
	for k := range 1 + s.rng.IntN(4) {
		size := s.length()
		in := make([]uint64, size)
		st, err := comm.SendRecv(s.ctx, s.to(peer, k), s.words(size), s.from(peer, k), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

// swapInPlace receives into its send buffer.
func swapInPlace(s *step, peer int, _ bool) error {
	size := s.length()
	v := s.words(size)
	st, err := comm.SendRecvReplace(s.ctx, s.to(peer, 0), s.from(peer, 0), v)
	if err != nil {
		return err
	}
	return s.got(st, v, peer, size)
}

func pingpong(s *step, peer int, first bool) error {
	synchronous, probing := one(s.rng, 2), one(s.rng, 3)
	for k := range 1 + s.rng.IntN(6) {
		size := s.length()
		if first == (k%2 == 0) {
			send := comm.Send[uint64]
			if synchronous {
				send = comm.Ssend[uint64]
			}
			if err := send(s.ctx, s.to(peer, 0), s.words(size)); err != nil {
				return err
			}
			continue
		}
		if probing {
			st, err := comm.Probe(s.ctx, s.from(peer, 0))
			if err != nil {
				return err
			}
			if st.Count != 8*size || st.Source != peer {
				return s.broken("probed %d bytes of %d, want %d of %d", st.Count, st.Source, 8*size, peer)
			}
		}
		in := make([]uint64, size)
		st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
		if err != nil {
			return err
		}
		if err := s.got(st, in, peer, size); err != nil {
			return err
		}
	}
	return nil
}

func runSsendRing(s *step) error {
	n, me := s.c.Size(), s.c.Rank()
	by := s.rng.IntN(n)
	size := s.length()
	var b bundle
	b.send(s, (me+by)%n, 0, size, true)
	b.receive(s, (me+n-by)%n, 0, size)
	return b.waitEach(s, size)
}

// inOrder sends messages of different lengths with one tag. They arrive in this order, and a
// message that is lost with its sender is an error in its place.
func inOrder(s *step, peer int, first bool) error {
	var sizes []int
	for range 2 + s.rng.IntN(4) {
		sizes = append(sizes, s.length())
	}
	if first {
		var b bundle
		for _, size := range sizes {
			b.send(s, peer, 0, size, false)
		}
		return b.waitEach(s, 0)
	}
	s.pause()
	var firstErr error
	for _, size := range sizes {
		in := make([]uint64, max(size, slices.Max(sizes)))
		st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
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
