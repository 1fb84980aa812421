package main

import (
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// A letter is a value of several kinds.
type letter struct {
	From  int
	Names map[string]int
	Words []uint64
}

func (s *step) letter(rank, size int) letter {
	proc := s.g.procs[rank]
	return letter{proc, map[string]int{s.name: proc}, vector[uint64](s.id, proc, size)}
}

func (s *step) read(l letter, rank, size int) error {
	if want := s.letter(rank, size); l.From != want.From || l.Names[s.name] != want.From || len(l.Names) != 1 || !slices.Equal(l.Words, want.Words) {
		return s.broken("a letter of %d with %d words, names %v; want one of %d with %d", l.From, len(l.Words), l.Names, want.From, size)
	}
	return nil
}

func (s *step) sendLetter(peer, size int) error {
	l := s.letter(s.c.Rank(), size)
	if one(s.own, 2) {
		_, err := comm.IsendValue(s.to(peer, 0), l).Wait(s.ctx)
		return err
	}
	return comm.SendValue(s.ctx, s.to(peer, 0), l)
}

func values(s *step, peer int, first bool) error {
	size := min(s.length(), 8193)
	for range 1 + s.rng.IntN(2) {
		if first {
			if err := s.sendLetter(peer, size); err != nil {
				return err
			}
		} else {
			l, _, err := comm.RecvValue[letter](s.ctx, s.from(peer, 0))
			if err != nil {
				return err
			}
			if err := s.read(l, peer, size); err != nil {
				return err
			}
		}
		first = !first
	}
	return nil
}

// A triple is a record with a hole.
type triple struct {
	A uint64
	B uint8
	C [2]float32
}

func (s *step) triple(proc, i int) triple {
	w := word(s.id, proc, i)
	return triple{w, uint8(w), [2]float32{float32(w % 100), float32(i)}}
}

func (s *step) triples(proc, n int) []triple {
	v := make([]triple, n)
	for i := range v {
		v[i] = s.triple(proc, i)
	}
	return v
}

// tookTriples checks the records from a rank.
func (s *step) tookTriples(v []triple, rank int) error {
	for i, got := range v {
		if want := s.triple(s.g.procs[rank], i); got != want {
			return s.broken("record %d of %d from rank %d is %v, want %v", i, len(v), rank, got, want)
		}
	}
	return nil
}

func records(s *step, peer int, first bool) error {
	size := min(s.length(), 8193)
	if first {
		return comm.Send(s.ctx, s.to(peer, 0), s.triples(s.me(), size))
	}
	in := make([]triple, size)
	st, err := comm.Recv(s.ctx, s.from(peer, 0), in)
	if err != nil {
		return err
	}
	if st.Count != size {
		return s.broken("%d records, want %d", st.Count, size)
	}
	return s.tookTriples(in, peer)
}
