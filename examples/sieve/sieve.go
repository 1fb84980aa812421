package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/shmem"
)

// A sieve is symmetric objects: number v is element v div PEs of PE v mod PEs. Which factors have
// been struck out is at PE 0.
type sieve struct {
	h       *shmem.Heap
	below   int
	factors []int            // the primes up to the root of below
	marks   shmem.Sym[uint8] // 1: a multiple of something
	struck  shmem.Sym[uint8] // 1: all multiples of the factor are marked
	count   shmem.Sym[int64] // of primes
}

// result is the outcome of a run.
type result struct{ primes, ranks, repairs int }

// run fills a sieve, repairs it as often as needed, counts what is left, and prints the result at
// one rank.
func run(ctx context.Context, w *comm.Comm, below int, print func(result)) (err error) {
	var r result
	h, err := shmem.New(ctx, w, bytesOf(below, w.Size()))
	for comm.Recoverable(err) { // killed before it had begun
		if w, err = w.Shrink(ctx); err != nil {
			return err
		}
		h, err = shmem.New(ctx, w, bytesOf(below, w.Size()))
	}
	if err != nil {
		return err
	}
	s, err := newSieve(ctx, h, below)
	for {
		if err == nil {
			r.primes, err = s.fill(ctx)
		}
		ok, agreed := h.Comm().AllOK(ctx, err)
		if ok {
			r.ranks = h.PEs()
			if err := report(ctx, h.Comm(), func() { print(r) }); err != nil {
				return err
			}
			return h.Free()
		}
		if err := errors.Join(err, agreed); err != nil && !comm.Recoverable(err) {
			return err
		}
		if s, h, err = repaired(ctx, s, h, below, &r.repairs); err != nil {
			return err
		}
	}
}

// report prints the result at rank 0 and ends in an agreement: if rank 0 dies before it has
// printed, the next rank 0 prints. A line twice is better than none.
func report(ctx context.Context, c *comm.Comm, print func()) error {
	for printed := false; ; {
		if c.Rank() == 0 && !printed {
			c.Mark("report", 1)
			print()
			printed = true
		}
		_, err := c.AllOK(ctx, nil)
		if err == nil || !comm.Recoverable(err) {
			return err
		}
		if c, err = c.Shrink(ctx); err != nil {
			return err
		}
	}
}

// bytesOf is the size of a heap that has room for the sieves of as many repairs as there can be.
func bytesOf(below, pes int) (bytes int) {
	factors := len(smallPrimes(below))
	for n := 1; n <= pes; n++ {
		bytes += (below+n-1)/n + factors + 256 // each object begins a line
	}
	return bytes
}

// newSieve makes an empty one.
func newSieve(ctx context.Context, h *shmem.Heap, below int) (s *sieve, err error) {
	s = &sieve{h: h, below: below, factors: smallPrimes(below)}
	if s.marks, err = shmem.Alloc[uint8](ctx, h, (below+h.PEs()-1)/h.PEs()); err != nil {
		return nil, err
	}
	if s.struck, err = shmem.Alloc[uint8](ctx, h, len(s.factors)); err != nil {
		return nil, err
	}
	s.count, err = shmem.Alloc[int64](ctx, h, 1)
	return s, err
}

// smallPrimes are those up to the root of a number.
func smallPrimes(below int) (primes []int) {
next:
	for v := 2; v*v < below; v++ {
		for _, p := range primes {
			if v%p == 0 {
				continue next
			}
		}
		primes = append(primes, v)
	}
	return primes
}

// fill strikes out the multiples of all factors, each PE those of some, and returns how many
// numbers are left.
func (s *sieve) fill(ctx context.Context) (primes int, err error) {
	for k := s.h.PE(); k < len(s.factors); k += s.h.PEs() {
		s.h.Comm().Mark("factor", k/s.h.PEs())
		done, err := s.struck.G(ctx, 0, k)
		if err == nil && done == 0 {
			err = s.strike(ctx, s.factors[k])
		}
		if err == nil {
			err = s.struck.P(ctx, 0, k, 1)
		}
		if err != nil {
			return 0, err
		}
	}
	if err := s.h.BarrierAll(ctx); err != nil {
		return 0, err
	}
	left := 0
	for i, m := range s.marks.Local() {
		if v := i*s.h.PEs() + s.h.PE(); v >= 2 && v < s.below && m == 0 {
			left++
		}
	}
	s.count.Local()[0] = int64(left)
	err = shmem.Reduce(ctx, s.count, s.count, collectives.Sum)
	return int(s.count.Local()[0]), err
}

// strike marks the multiples of a factor. To do so again does no harm, so a PE that dies in it has
// done none.
func (s *sieve) strike(ctx context.Context, p int) error {
	pes := s.h.PEs()
	for v := p * p; v < s.below; v += p {
		if err := s.marks.P(ctx, v%pes, v/pes, 1); err != nil {
			return err
		}
	}
	return nil
}

// repaired is the sieve on a heap of the living PEs, with what had been marked in the old one, also
// by the dead and at the dead. The old heap is freed. Without a sieve, as when a PE had died while
// it was made, it is an empty one.
func repaired(ctx context.Context, s *sieve, old *shmem.Heap, below int, repairs *int) (*sieve, *shmem.Heap, error) {
	for {
		h, err := old.Repair(ctx)
		if err != nil {
			return s, old, err
		}
		*repairs++
		h.Comm().Mark("repair", *repairs)
		n, failure := newSieve(ctx, h, below)
		if failure == nil && s != nil {
			failure = n.take(ctx, s)
		}
		ok, err := h.Comm().AllOK(ctx, failure)
		if ok {
			return n, h, old.Free()
		}
		if err := errors.Join(err, failure); err != nil && !comm.Recoverable(err) {
			return s, old, err
		}
		if err := h.Free(); err != nil {
			return s, old, err
		}
	}
}

// take brings over what the PEs of an old sieve have: each PE what some of them have.
func (s *sieve) take(ctx context.Context, old *sieve) error {
	was := make([]uint8, old.marks.Len())
	for pe := s.h.PE(); pe < old.h.PEs(); pe += s.h.PEs() {
		if err := old.marks.Salvage(pe, was); err != nil {
			return err
		}
		for i, m := range was {
			if v := i*old.h.PEs() + pe; m == 1 {
				if err := s.marks.P(ctx, v%s.h.PEs(), v/s.h.PEs(), 1); err != nil {
					return err
				}
			}
		}
	}
	if s.h.PE() == 0 {
		if err := old.struck.Salvage(0, s.struck.Local()); err != nil {
			return err
		}
	}
	return s.h.BarrierAll(ctx)
}
