package main

import "github.com/goulfm/goulfm/comm"

// word returns the i-th number that a process contributes to a step.
func word(id uint64, proc, i int) uint64 {
	x := (id+uint64(proc)*0x9e3779b97f4a7c15)*0xbf58476d1ce4e5b9 + uint64(i)*0x94d049bb133111eb
	return x ^ x>>31
}

// A number is what vectors consist of.
type number interface {
	~int32 | ~uint8 | ~uint64 | ~float64
}

// value is a word as a number of any type, small enough that sums of floats are exact.
func value[T number](id uint64, proc, i int) T { return T(word(id, proc, i) % 200) }

func vector[T number](id uint64, proc, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = value[T](id, proc, i)
	}
	return v
}

// wrongAt returns the first index where v differs from the numbers of a process, from its first-th
// number on; -1: none.
func wrongAt[T number](v []T, id uint64, proc, first int) int {
	for i, got := range v {
		if got != value[T](id, proc, first+i) {
			return i
		}
	}
	return -1
}

// me is the number of this process.
func (s *step) me() int { return s.m.me }

func (s *step) broken(format string, args ...any) error {
	return s.m.broken("step %s, %s on %s: "+format, append([]any{s.name, s.op.name, s.g.name}, args...)...)
}

// took checks the data from a rank.
func took[T number](s *step, v []T, rank, first int) error {
	if i := wrongAt(v, s.id, s.g.procs[rank], first); i >= 0 {
		return s.broken("wrong data from rank %d at %d of %d: %v, want %v", rank, i, len(v), v[i], value[T](s.id, s.g.procs[rank], first+i))
	}
	return nil
}

// summed checks a sum over some ranks, from their first-th numbers on.
func summed[T number](s *step, v []T, ranks, first int) error {
	for i, got := range v {
		var want T
		for rank := range ranks {
			want += value[T](s.id, s.g.procs[rank], first+i)
		}
		if got != want {
			return s.broken("wrong sum of %d ranks at %d of %d: %v, want %v", ranks, i, len(v), got, want)
		}
	}
	return nil
}

// lengths cover every path of messages.
var lengths = []int{0, 1, 2, 4, 5, 6, 7, 8, 63, 64, 100, 512, 1000, 1023, 1024, 1025, 2048, 4096, 8192, 8193}

// length draws the length of a message, usually a small one.
func (s *step) length() int {
	switch s.rng.IntN(40) {
	case 0:
		return 40_000
	case 1:
		return 128 << 10
	}
	return lengths[s.rng.IntN(len(lengths))]
}

// part draws the length of one rank's part.
func (s *step) part() int { return min(s.length(), 2048) }

// words returns the numbers that this rank sends.
func (s *step) words(n int) []uint64 { return vector[uint64](s.id, s.me(), n) }

// to and from name a rank with the k-th tag of the step.
func (s *step) to(rank, k int) comm.Dest     { return s.c.To(rank).Tag(s.tag + k) }
func (s *step) from(rank, k int) comm.Source { return s.c.From(rank).Tag(s.tag + k) }
