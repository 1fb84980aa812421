package main

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/shmem"
)

// A sieve is a set of symmetric objects: number v is element v div PEs of PE v mod PEs. PE 0 has
// the list of the factors that have been struck out.
type sieve struct {
	h       *shmem.Heap
	below   int
	factors []int            // the primes up to the root of below
	marks   shmem.Sym[uint8] // 1: a multiple of a factor
	struck  shmem.Sym[uint8] // 1: all multiples of the factor are marked
	count   shmem.Sym[int64] // of primes
}

// result is the outcome of a run.
type result struct{ primes, ranks, repairs int }

// run fills a sieve, repairs it as often as needed, counts the remaining numbers, and prints the
// result at one rank.
func run(ctx context.Context, w *comm.Comm, below int, print func(result)) (err error) {
	var r result
	h, err := shmem.New(ctx, w, bytesOf(below, w.Size()))
	for comm.Recoverable(err) { // a rank was killed before the heap was made
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

// bytesOf is the size of a heap with room for the sieves of the largest possible number of repairs.
func bytesOf(below, pes int) (bytes int) {
	factors := len(smallPrimes(below))
	for n := 1; n <= pes; n++ {
		bytes += (below+n-1)/n + factors + 256 // each object begins a line
	}
	return bytes
}

// newSieve makes an empty sieve.
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

// smallPrimes returns the primes up to the root of a number.
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

// fill strikes out the multiples of all factors, each PE those of some factors, and returns the
// count of the remaining numbers.
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

// strike marks the multiples of a factor. A repetition does no harm, so the factor of a PE that
// dies here counts as not struck out.
func (s *sieve) strike(ctx context.Context, p int) error {
	pes := s.h.PEs()
	for v := p * p; v < s.below; v += p {
		if err := s.marks.P(ctx, v%pes, v/pes, 1); err != nil {
			return err
		}
	}
	return nil
}

// repaired returns the sieve on a heap of the living PEs, with the marks of the old one, also those
// made by the dead and at the dead. The old heap is freed. Without an old sieve, for example if a
// PE has died while that was made, the result is an empty sieve.
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

// take copies the marks of the PEs of an old sieve. Each PE copies those of some old PEs.
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
