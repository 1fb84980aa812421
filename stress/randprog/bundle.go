package main

import (
	"errors"
	"runtime"
	"slices"

	"github.com/goulfm/goulfm/comm"
)

// A bundle holds requests, each with its peer.
type bundle struct {
	rs    []comm.Request
	in    [][]uint64 // destination of a receive, nil for a send
	peers []int      // -1: any
}

func (b *bundle) receive(s *step, from, k, size int) {
	v := make([]uint64, size)
	b.rs = append(b.rs, comm.Irecv(s.from(from, k), v))
	b.in, b.peers = append(b.in, v), append(b.peers, from)
}

func (b *bundle) send(s *step, to, k, size int, synchronous bool) {
	start := comm.Isend[uint64]
	if synchronous {
		start = comm.Issend[uint64]
	}
	b.rs = append(b.rs, start(s.to(to, k), s.words(size)))
	b.in, b.peers = append(b.in, nil), append(b.peers, to)
}

// exchange makes every rank send to every other rank, all at once.
func (b *bundle) exchange(s *step, from func(i int) int) (size int) {
	n, me := s.c.Size(), s.c.Rank()
	size, synchronous := min(s.length(), 8193), one(s.rng, 2)
	for i := range n - 1 {
		b.receive(s, from((me+1+i)%n), 0, size)
	}
	for i := range n - 1 {
		b.send(s, (me+n-1-i)%n, 0, size, synchronous)
	}
	return size
}

func runExchange(s *step) error {
	var b bundle
	size := b.exchange(s, func(rank int) int { return rank })
	if one(s.rng, 2) {
		sts := make([]comm.Status, len(b.rs))
		err := comm.WaitAllStatus(s.ctx, sts, b.rs...)
		if err == nil {
			return b.check(s, sts, size)
		}
		return errors.Join(err, b.waitEach(s, size))
	}
	return b.waitEach(s, size)
}

func (b *bundle) check(s *step, sts []comm.Status, size int) error {
	for i, in := range b.in {
		if in != nil {
			if err := s.got(sts[i], in, b.peers[i], size); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitEach waits for one request after the other, and returns the first error. Requests that have
// ended before give ErrInactive.
func (b *bundle) waitEach(s *step, size int) error {
	var first error
	for i, r := range b.rs {
		st, err := r.Wait(s.ctx)
		switch {
		case errors.Is(err, comm.ErrInactive):
		case err != nil:
			if err := s.blamed(err, b.peers[i]); err != nil {
				return err
			}
			if first == nil {
				first = err
			}
		case b.in[i] != nil:
			if err := s.got(st, b.in[i], b.peers[i], size); err != nil {
				return err
			}
		}
	}
	return first
}

// blamed checks that an operation with one peer fails only by the death of this peer (R2).
func (s *step) blamed(err error, peer int) error {
	if ranks := namedRanks(err); classify(err) == classFailed && !slices.Equal(ranks, []int{peer}) {
		return s.broken("an operation with rank %d alone: %v", peer, err)
	}
	return nil
}

func runExchangeAny(s *step) error {
	from, err := s.wild()
	if err != nil {
		return err
	}
	var b bundle
	size := b.exchange(s, func(int) int { return from })
	sts := make([]comm.Status, len(b.rs))
	if err := comm.WaitAllStatus(s.ctx, sts, b.rs...); err != nil {
		for _, r := range b.rs {
			_ = r.Free() // ErrInactive for requests that have ended
		}
		return err
	}
	seen := make([]bool, s.c.Size())
	for i, in := range b.in {
		if in == nil {
			continue
		}
		st := sts[i]
		if st.Source < 0 || st.Source >= len(seen) || st.Source == s.c.Rank() || seen[st.Source] {
			return s.broken("a message from rank %d, not the first or from no other member: %v", st.Source, seen)
		}
		seen[st.Source] = true
		if err := s.got(st, in, st.Source, size); err != nil {
			return err
		}
	}
	return nil
}

// runFanIn makes all ranks send to the root, which receives the messages in order of arrival.
func runFanIn(s *step) error {
	n := s.c.Size()
	root, size, synchronous, probing := s.rng.IntN(n), s.length(), one(s.rng, 2), one(s.rng, 3)
	if s.c.Rank() != root {
		if synchronous {
			return comm.Ssend(s.ctx, s.to(root, 0), s.words(size))
		}
		return comm.Send(s.ctx, s.to(root, 0), s.words(size))
	}
	from, err := s.wild()
	if err != nil {
		return err
	}
	seen := make([]bool, n)
	for range n - 1 {
		source := from
		if probing {
			st, err := comm.Probe(s.ctx, s.from(from, 0))
			if err != nil {
				return err
			}
			source = st.Source
		}
		in := make([]uint64, size)
		st, err := comm.Recv(s.ctx, s.from(source, 0), in)
		if err != nil {
			return err
		}
		if st.Source < 0 || st.Source >= n || st.Source == root || seen[st.Source] {
			return s.broken("a message from rank %d, not the first or from no other member: %v", st.Source, seen)
		}
		seen[st.Source] = true
		if err := s.got(st, in, st.Source, size); err != nil {
			return err
		}
	}
	return nil
}

// runStar makes all ranks send to the root, which names the senders and handles the requests in the
// order in which they end.
func runStar(next func(s *step, rs []comm.Request) (done []int, errs []error, sts []comm.Status, fatal error)) func(*step) error {
	return func(s *step) error {
		n := s.c.Size()
		root, size, synchronous := s.rng.IntN(n), s.length(), one(s.rng, 2)
		if s.c.Rank() != root {
			send := comm.Send[uint64]
			if synchronous {
				send = comm.Ssend[uint64]
			}
			return send(s.ctx, s.to(root, 0), s.words(size))
		}
		var b bundle
		for rank := range n {
			if rank != root {
				b.receive(s, rank, 0, size)
			}
		}
		var first error
		for left := len(b.rs); left > 0; {
			done, errs, sts, fatal := next(s, b.rs)
			if fatal != nil {
				return fatal
			}
			for k, i := range done {
				left--
				b.rs[i] = comm.Request{}
				if errs[k] != nil {
					if err := s.blamed(errs[k], b.peers[i]); err != nil {
						return err
					}
					if first == nil {
						first = errs[k]
					}
					continue
				}
				if sts != nil {
					if err := s.got(sts[k], b.in[i], b.peers[i], size); err != nil {
						return err
					}
				} else if err := took(s, b.in[i], b.peers[i], 0); err != nil {
					return err
				}
			}
		}
		return first
	}
}

func waitAny(s *step, rs []comm.Request) ([]int, []error, []comm.Status, error) {
	i, st, err := comm.WaitAny(s.ctx, rs...)
	if i < 0 {
		return nil, nil, nil, s.broken("wait-any returned %d, %v", i, err)
	}
	return []int{i}, []error{err}, []comm.Status{st}, nil
}

func testAny(s *step, rs []comm.Request) ([]int, []error, []comm.Status, error) {
	i, st, over, err := comm.TestAny(rs...)
	switch {
	case over && i >= 0:
		return []int{i}, []error{err}, []comm.Status{st}, nil
	case over || err != nil:
		return nil, nil, nil, s.broken("test-any returned %d, %v, %v", i, over, err)
	}
	runtime.Gosched()
	return nil, nil, nil, nil
}

func waitSome(s *step, rs []comm.Request) ([]int, []error, []comm.Status, error) {
	done, err := comm.WaitSome(s.ctx, nil, rs...)
	if len(done) == 0 {
		return nil, nil, nil, s.broken("wait-some returned nothing, %v", err)
	}
	errs := make([]error, len(done))
	if err != nil {
		multi := new(comm.MultiError)
		if !errors.As(err, &multi) || len(multi.Errs) != len(rs) {
			return nil, nil, nil, s.broken("wait-some returned %v", err)
		}
		for k, i := range done {
			errs[k] = multi.Errs[i]
		}
	}
	return done, errs, nil, nil
}
