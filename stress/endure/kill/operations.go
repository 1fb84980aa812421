package kill

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A step is one operation on one communicator.
type step struct {
	ctx     context.Context
	w       *worker
	c       *comm.Comm
	members []int      // of c, as ranks of the world
	id      uint64     // of the operation
	tag     int        // the first of its tags: a fast rank may be in the next operation
	rng     *rand.Rand // draws the same at all members
}

// operations are drawn with equal chance. Each ends with an error or with checked data.
var operations []func(*step) error

func init() {
	operations = []func(*step) error{
		shift, shift, exchange, exchange, fanIn, fanIn, pairs,
		barrier, bcast, bcast, reduce, allreduce, allreduce, gather, allgather, alltoall, scatter,
		dup, split,
	}
}

// numbers draws a length: usually short, of every protocol's sizes.
func (s *step) numbers() int {
	sizes := [...]int{0, 1, 5, 6, 128, 512, 1024, 1025, 2048, 8192, 8193}
	if s.rng.IntN(20) == 0 {
		return 128 << 10
	}
	return sizes[s.rng.IntN(len(sizes))]
}

func (s *step) me() int { return s.members[s.c.Rank()] }

// took checks a message from a rank of the communicator.
func (s *step) took(what string, v []uint64, from int) error {
	if i := wrongAt(v, s.id, s.members[from]); i >= 0 {
		return s.w.wrong("%s: wrong data from rank %d at %d of %d", what, s.members[from], i, len(v))
	}
	return nil
}

// shift sends to a rank at some distance, and receives from the rank at that distance in the other
// direction.
func shift(s *step) error {
	n := s.c.Size()
	by := 0
	if n > 1 {
		by = 1 + s.rng.IntN(n-1)
	}
	to, from := (s.c.Rank()+by)%n, (s.c.Rank()+n-by)%n
	for tag := range 1 + s.rng.IntN(tagsEach) {
		size, source := s.numbers(), from
		if s.rng.IntN(2) == 0 {
			source = comm.Any
		}
		in := make([]uint64, size)
		st, err := comm.SendRecv(s.ctx, s.c.To(to).Tag(s.tag+tag), words(s.id, s.me(), size), s.c.From(source).Tag(s.tag+tag), in)
		if err != nil {
			return err
		}
		if st.Source != from || st.Count != size {
			return s.w.wrong("shift: %d of %d numbers from %d, want %d", st.Count, size, st.Source, from)
		}
		if err := s.took("shift", in, from); err != nil {
			return err
		}
	}
	return nil
}

// exchange makes every rank send to every other one, all at once.
func exchange(s *step) error {
	n, me := s.c.Size(), s.c.Rank()
	size, anybody, synchronous := s.numbers(), s.rng.IntN(2) == 0, s.rng.IntN(2) == 0
	if size > 8193 {
		size = 8193 // there are n squared of them
	}
	out := words(s.id, s.me(), size)
	var rs []comm.Request
	in := make([][]uint64, n-1)
	for i := range in {
		in[i] = make([]uint64, size)
		from := comm.Any
		if !anybody {
			from = (me + 1 + i) % n
		}
		rs = append(rs, comm.Irecv(s.c.From(from).Tag(s.tag), in[i]))
	}
	for i := range n - 1 {
		to := s.c.To((me + n - 1 - i) % n).Tag(s.tag)
		if synchronous {
			rs = append(rs, comm.Issend(to, out))
		} else {
			rs = append(rs, comm.Isend(to, out))
		}
	}
	sts := make([]comm.Status, len(rs))
	if err := comm.WaitAllStatus(s.ctx, sts, rs...); err != nil {
		for _, r := range rs {
			_ = r.Free() // ErrInactive for those that are over
		}
		return err
	}
	seen := make([]bool, n)
	for i, v := range in {
		from := sts[i].Source
		if from < 0 || from >= n || from == me || seen[from] || sts[i].Count != size {
			return s.w.wrong("exchange: %d of %d numbers from %d, seen so far: %v", sts[i].Count, size, from, seen)
		}
		seen[from] = true
		if err := s.took("exchange", v, from); err != nil {
			return err
		}
	}
	return nil
}

// fanIn makes all ranks send to one, which receives the messages in any order.
func fanIn(s *step) error {
	n := s.c.Size()
	root, size := s.rng.IntN(n), s.numbers()
	if s.c.Rank() != root {
		return comm.Send(s.ctx, s.c.To(root).Tag(s.tag), words(s.id, s.me(), size))
	}
	seen := make([]bool, n)
	in := make([]uint64, size)
	for range n - 1 {
		st, err := comm.Recv(s.ctx, s.c.From(comm.Any).Tag(s.tag), in)
		if err != nil {
			return err
		}
		if seen[st.Source] || st.Count != size || st.Tag != s.tag {
			return s.w.wrong("fan-in: %d of %d numbers with tag %d from %d, seen so far: %v", st.Count, size, st.Tag, st.Source, seen)
		}
		seen[st.Source] = true
		if err := s.took("fan-in", in, st.Source); err != nil {
			return err
		}
	}
	return nil
}

// pairs makes the ranks of a random pairing send and answer, with a probe for the message.
func pairs(s *step) error {
	order := s.rng.Perm(s.c.Size())
	size := s.numbers()
	for i := 0; i+1 < len(order); i += 2 {
		switch s.c.Rank() {
		case order[i]:
			if err := comm.Ssend(s.ctx, s.c.To(order[i+1]).Tag(s.tag), words(s.id, s.me(), size)); err != nil {
				return err
			}
			return s.probed(order[i+1], size)
		case order[i+1]:
			if err := s.probed(order[i], size); err != nil {
				return err
			}
			return comm.Send(s.ctx, s.c.To(order[i]).Tag(s.tag), words(s.id, s.me(), size))
		}
	}
	return nil
}

func (s *step) probed(from, size int) error {
	st, err := comm.Probe(s.ctx, s.c.From(from).Tag(s.tag))
	if err != nil {
		return err
	}
	if st.Count != 8*size {
		return s.w.wrong("probe: %d bytes, want %d", st.Count, 8*size)
	}
	in := make([]uint64, size)
	if _, err := comm.Recv(s.ctx, s.c.From(from).Tag(s.tag), in); err != nil {
		return err
	}
	return s.took("pairs", in, from)
}

func barrier(s *step) error { return collectives.Barrier(s.ctx, s.c) }

func bcast(s *step) error {
	root, v := s.rng.IntN(s.c.Size()), words(s.id, s.me(), s.numbers())
	if err := collectives.Bcast(s.ctx, s.c, root, v); err != nil {
		return err
	}
	return s.took("bcast", v, root)
}

// summed checks a sum over the members.
func (s *step) summed(what string, v []uint64) error {
	if i := wrongSumAt(v, s.id, s.members); i >= 0 {
		return s.w.wrong("%s: wrong data at %d of %d", what, i, len(v))
	}
	return nil
}

func reduce(s *step) error {
	root, v := s.rng.IntN(s.c.Size()), words(s.id, s.me(), s.numbers())
	if err := collectives.Reduce(s.ctx, s.c, root, v, v, collectives.Sum); err != nil || s.c.Rank() != root {
		return err
	}
	return s.summed("reduce", v)
}

func allreduce(s *step) error {
	v := words(s.id, s.me(), s.numbers())
	if err := collectives.Allreduce(s.ctx, s.c, v, v, collectives.Sum); err != nil {
		return err
	}
	return s.summed("allreduce", v)
}

// parts checks a part from every rank.
func (s *step) parts(what string, all []uint64) error {
	size := len(all) / s.c.Size()
	for from := range s.c.Size() {
		if err := s.took(what, all[from*size:][:size], from); err != nil {
			return err
		}
	}
	return nil
}

// part draws the length of one rank's part.
func (s *step) part() int { return min(s.numbers(), 2048) }

func gather(s *step) error {
	root, size := s.rng.IntN(s.c.Size()), s.part()
	all := make([]uint64, size*s.c.Size())
	if err := collectives.Gather(s.ctx, s.c, root, all, words(s.id, s.me(), size)); err != nil || s.c.Rank() != root {
		return err
	}
	return s.parts("gather", all)
}

func allgather(s *step) error {
	size := s.part()
	all := make([]uint64, size*s.c.Size())
	if err := collectives.Allgather(s.ctx, s.c, all, words(s.id, s.me(), size)); err != nil {
		return err
	}
	return s.parts("allgather", all)
}

// alltoall makes each rank send the same part to all.
func alltoall(s *step) error {
	size := s.part()
	var out []uint64
	for range s.c.Size() {
		out = append(out, words(s.id, s.me(), size)...)
	}
	all := make([]uint64, len(out))
	if err := collectives.Alltoall(s.ctx, s.c, all, out); err != nil {
		return err
	}
	return s.parts("alltoall", all)
}

func scatter(s *step) error {
	root, size := s.rng.IntN(s.c.Size()), s.part()
	all := words(s.id, s.me(), size*s.c.Size())
	mine := make([]uint64, size)
	if err := collectives.Scatter(s.ctx, s.c, root, mine, all); err != nil {
		return err
	}
	for i, got := range mine {
		if got != word(s.id, s.members[root], s.c.Rank()*size+i) {
			return s.w.wrong("scatter: wrong data from rank %d at %d of %d", s.members[root], i, size)
		}
	}
	return nil
}

// dup uses a copy of the communicator and frees it.
func dup(s *step) error {
	d, err := s.c.Dup(s.ctx)
	if err != nil {
		return err
	}
	return s.on(d, s.members)
}

// split does the same with a half of the communicator.
func split(s *step) error {
	salt := s.rng.IntN(2)
	colour := func(rank int) int { return (rank + salt) % 2 }
	half, err := s.c.Split(s.ctx, colour(s.c.Rank()), 0)
	if err != nil {
		return err
	}
	var members []int
	for rank, m := range s.members {
		if colour(rank) == colour(s.c.Rank()) {
			members = append(members, m)
		}
	}
	if half.Size() != len(members) || members[half.Rank()] != s.me() {
		return s.w.wrong("split of %v gave rank %d of %d, want %v", s.members, half.Rank(), half.Size(), members)
	}
	return s.on(half, members)
}

// on does two operations on another communicator. If one fails the other members of that
// communicator have to learn of the failure.
func (s *step) on(c *comm.Comm, members []int) error {
	for i, op := range []func(*step) error{shift, allreduce} {
		t := step{ctx: s.ctx, w: s.w, c: c, members: members, id: s.id + uint64(i) + 1}
		t.rng = rand.New(rand.NewPCG(t.id, 0))
		if err := op(&t); err != nil {
			return errors.Join(err, c.Revoke(), c.Free())
		}
	}
	return c.Free()
}
