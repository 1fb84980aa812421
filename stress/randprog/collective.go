package main

import (
	"context"
	"errors"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// A verb is a collective with its arguments at one rank, in the blocking and the non-blocking form.
type verb struct {
	block func(ctx context.Context) error
	start func() comm.Request
	check func(s *step) error
}

// verbs returns a constructor for each verb, for one type of numbers.
func verbs[T number]() map[string]func(s *step) verb {
	return map[string]func(s *step) verb{
		"bcast": bcast[T], "reduce": reduce[T], "allreduce": allreduce[T], "gather": gather[T], "scatter": scatter[T],
		"allgather": allgather[T], "alltoall": alltoall[T], "gatherv": gatherv[T], "scatterv": scatterv[T],
		"allgatherv": allgatherv[T], "alltoallv": alltoallv[T], "reduce-scatter": reduceScatter[T],
		"reduce-scatter-block": reduceScatterBlock[T], "scan": scan[T], "exscan": exscan[T], "custom": custom[T],
		"neighbor-allgather": neighborAllgather[T], "neighbor-alltoall": neighborAlltoall[T],
		"neighbor-allgatherv": neighborAllgatherv[T], "neighbor-alltoallv": neighborAlltoallv[T],
	}
}

// collectiveOps returns all collectives: blocking, and with prefix i: non-blocking.
func collectiveOps() []*operation {
	types := []map[string]func(s *step) verb{verbs[uint64](), verbs[uint64](), verbs[float64](), verbs[int32](), verbs[uint8]()}
	ops := []*operation{
		{name: "i:barrier", weight: 2, run: runIbarrier, stays: true},
		{name: "bcast-value", weight: 2, run: runBcastValue, stays: true},
		{name: "gather-value", weight: 2, run: runGatherValue, stays: true},
		{name: "scalars", weight: 3, run: runScalars, stays: true},
		{name: "each-value", weight: 4, run: runEachValue, stays: true},
		{name: "record-ops", weight: 2, run: runRecords, stays: true},
		{name: "loc", weight: 1, run: runLoc, stays: true},
		{name: "reproducible", weight: 1, run: runReproducible, stays: true},
		{name: "given-up", weight: 1, run: runGivenUp},
	}
	for _, name := range slices.Sorted(mapKeys(types[0])) {
		build := func(s *step) verb { return types[s.rng.IntN(len(types))][name](s) }
		ops = append(ops,
			&operation{name: name, weight: 3, stays: true, run: func(s *step) error { return build(s).run(s) }},
			&operation{name: "i:" + name, weight: 2, stays: true, run: func(s *step) error { return build(s).later(s) }})
	}
	return ops
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (v verb) run(s *step) error {
	if v.block == nil {
		return nil
	}
	if err := v.block(s.ctx); err != nil {
		return err
	}
	return v.check(s)
}

// later starts the verb. The machine waits for the request before the stretch ends.
func (v verb) later(s *step) error {
	if v.block == nil {
		return nil
	}
	r := v.start()
	s.m.later(s, func(s *step) error {
		if _, err := r.Wait(s.ctx); err != nil {
			return err
		}
		return v.check(s)
	})
	return nil
}

func always(*step) error { return nil }

func runBarrier(s *step) error { return collectives.Barrier(s.ctx, s.c, s.way("barrier")) }

func runIbarrier(s *step) error {
	return verb{func(ctx context.Context) error { return nil }, func() comm.Request { return collectives.Ibarrier(s.c, s.way("barrier")) }, always}.later(s)
}

func bcast[T number](s *step) verb {
	root, n := s.rng.IntN(s.c.Size()), s.length()
	v := vector[T](s.id, s.me(), n)
	return verb{
		func(ctx context.Context) error { return collectives.Bcast(ctx, s.c, root, v, s.way("bcast")) },
		func() comm.Request { return collectives.Ibcast(s.c, root, v, s.way("bcast")) },
		func(s *step) error { return took(s, v, root, 0) },
	}
}

// twoVectors returns destination and source, which may be the same vector.
func twoVectors[T number](s *step, n int) (dst, src []T) {
	src = vector[T](s.id, s.me(), n)
	if one(s.rng, 2) {
		return src, src
	}
	return make([]T, n), src
}

func reduce[T number](s *step) verb {
	root := s.rng.IntN(s.c.Size())
	dst, src := twoVectors[T](s, s.length())
	return verb{
		func(ctx context.Context) error {
			return collectives.Reduce(ctx, s.c, root, dst, src, collectives.Sum, s.way("reduce"))
		},
		func() comm.Request { return collectives.Ireduce(s.c, root, dst, src, collectives.Sum, s.way("reduce")) },
		func(s *step) error {
			if s.c.Rank() != root {
				return nil
			}
			return summed(s, dst, s.c.Size(), 0)
		},
	}
}

func allreduce[T number](s *step) verb {
	dst, src := twoVectors[T](s, s.length())
	return verb{
		func(ctx context.Context) error {
			return collectives.Allreduce(ctx, s.c, dst, src, collectives.Sum, s.way("allreduce"))
		},
		func() comm.Request { return collectives.Iallreduce(s.c, dst, src, collectives.Sum, s.way("allreduce")) },
		func(s *step) error { return summed(s, dst, s.c.Size(), 0) },
	}
}

// custom reduces with a non-commutative function that returns its right operand.
func custom[T number](s *step) verb {
	n := s.length()
	dst, src := twoVectors[T](s, n)
	op := collectives.Custom(func(acc, in []T) { copy(acc, in) }, false)
	return verb{
		func(ctx context.Context) error {
			return collectives.Allreduce(ctx, s.c, dst, src, op, s.way("allreduce"))
		},
		func() comm.Request { return collectives.Iallreduce(s.c, dst, src, op, s.way("allreduce")) },
		func(s *step) error { return took(s, dst, s.c.Size()-1, 0) },
	}
}

func scan[T number](s *step) verb {
	dst, src := twoVectors[T](s, s.length())
	return verb{
		func(ctx context.Context) error {
			return collectives.Scan(ctx, s.c, dst, src, collectives.Sum, s.way("scan"))
		},
		func() comm.Request { return collectives.Iscan(s.c, dst, src, collectives.Sum, s.way("scan")) },
		func(s *step) error { return summed(s, dst, s.c.Rank()+1, 0) },
	}
}

func exscan[T number](s *step) verb {
	dst, src := twoVectors[T](s, s.length())
	return verb{
		func(ctx context.Context) error {
			return collectives.Exscan(ctx, s.c, dst, src, collectives.Sum, s.way("exscan"))
		},
		func() comm.Request { return collectives.Iexscan(s.c, dst, src, collectives.Sum, s.way("exscan")) },
		func(s *step) error {
			if s.c.Rank() == 0 {
				return nil
			}
			return summed(s, dst, s.c.Rank(), 0)
		},
	}
}

// parts checks the block from each rank: count elements of the rank's vector, from index at on.
func parts[T number](s *step, all []T, count func(rank int) int, at int) error {
	place := 0
	for rank := range s.c.Size() {
		if err := took(s, all[place:place+count(rank)], rank, at); err != nil {
			return err
		}
		place += count(rank)
	}
	return nil
}

func even(n int) func(int) int { return func(int) int { return n } }

func gather[T number](s *step) verb {
	root, n := s.rng.IntN(s.c.Size()), s.part()
	src := vector[T](s.id, s.me(), n)
	var all []T
	if s.c.Rank() == root {
		all = make([]T, n*s.c.Size())
	}
	return verb{
		func(ctx context.Context) error { return collectives.Gather(ctx, s.c, root, all, src, s.way("gather")) },
		func() comm.Request { return collectives.Igather(s.c, root, all, src, s.way("gather")) },
		func(s *step) error {
			if s.c.Rank() != root {
				return nil
			}
			return parts(s, all, even(n), 0)
		},
	}
}

func scatter[T number](s *step) verb {
	root, n := s.rng.IntN(s.c.Size()), s.part()
	var all []T
	if s.c.Rank() == root {
		all = vector[T](s.id, s.me(), n*s.c.Size())
	}
	dst := make([]T, n)
	return verb{
		func(ctx context.Context) error {
			return collectives.Scatter(ctx, s.c, root, dst, all, s.way("scatter"))
		},
		func() comm.Request { return collectives.Iscatter(s.c, root, dst, all, s.way("scatter")) },
		func(s *step) error { return took(s, dst, root, n*s.c.Rank()) },
	}
}

func allgather[T number](s *step) verb {
	n := s.part()
	src, all := vector[T](s.id, s.me(), n), make([]T, n*s.c.Size())
	return verb{
		func(ctx context.Context) error { return collectives.Allgather(ctx, s.c, all, src, s.way("allgather")) },
		func() comm.Request { return collectives.Iallgather(s.c, all, src, s.way("allgather")) },
		func(s *step) error { return parts(s, all, even(n), 0) },
	}
}

func alltoall[T number](s *step) verb {
	n := s.part()
	dst, src := twoVectors[T](s, n*s.c.Size())
	return verb{
		func(ctx context.Context) error { return collectives.Alltoall(ctx, s.c, dst, src, s.way("alltoall")) },
		func() comm.Request { return collectives.Ialltoall(s.c, dst, src, s.way("alltoall")) },
		func(s *step) error { return parts(s, dst, even(n), n*s.c.Rank()) },
	}
}

// counts draws the length of each rank's block.
func (s *step) counts() (counts []int, sum int) {
	base := s.part()
	for range s.c.Size() {
		n := s.rng.IntN(base + 2)
		counts, sum = append(counts, n), sum+n
	}
	return counts, sum
}

func nth(counts []int) func(int) int { return func(i int) int { return counts[i] } }

func gatherv[T number](s *step) verb {
	root := s.rng.IntN(s.c.Size())
	counts, sum := s.counts()
	src := vector[T](s.id, s.me(), counts[s.c.Rank()])
	all := make([]T, sum)
	return verb{
		func(ctx context.Context) error {
			return collectives.Gatherv(ctx, s.c, root, all, collectives.Blocks{Counts: counts}, src, s.way("gather"))
		},
		func() comm.Request {
			return collectives.Igatherv(s.c, root, all, collectives.Blocks{Counts: counts}, src, s.way("gather"))
		},
		func(s *step) error {
			if s.c.Rank() != root {
				return nil
			}
			return parts(s, all, nth(counts), 0)
		},
	}
}

func scatterv[T number](s *step) verb {
	root := s.rng.IntN(s.c.Size())
	counts, sum := s.counts()
	all, dst := vector[T](s.id, s.me(), sum), make([]T, counts[s.c.Rank()])
	return verb{
		func(ctx context.Context) error {
			return collectives.Scatterv(ctx, s.c, root, dst, all, collectives.Blocks{Counts: counts}, s.way("scatter"))
		},
		func() comm.Request {
			return collectives.Iscatterv(s.c, root, dst, all, collectives.Blocks{Counts: counts}, s.way("scatter"))
		},
		func(s *step) error { return took(s, dst, root, total(counts[:s.c.Rank()])) },
	}
}

func total(counts []int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

func allgatherv[T number](s *step) verb {
	counts, sum := s.counts()
	src, all := vector[T](s.id, s.me(), counts[s.c.Rank()]), make([]T, sum)
	return verb{
		func(ctx context.Context) error {
			return collectives.Allgatherv(ctx, s.c, all, collectives.Blocks{Counts: counts}, src, s.way("allgather"))
		},
		func() comm.Request {
			return collectives.Iallgatherv(s.c, all, collectives.Blocks{Counts: counts}, src, s.way("allgather"))
		},
		func(s *step) error { return parts(s, all, nth(counts), 0) },
	}
}

// alltoallv draws block lengths that depend on sender and receiver; a block's place is the sum of
// the lengths before.
func alltoallv[T number](s *step) verb {
	n, me, base := s.c.Size(), s.c.Rank(), min(s.part(), 512)
	length := func(from, to int) int { return int(word(s.id+1, from, to) % uint64(base+1)) }
	var scounts, rcounts []int
	for i := range n {
		scounts, rcounts = append(scounts, length(me, i)), append(rcounts, length(i, me))
	}
	src, dst := vector[T](s.id, s.me(), total(scounts)), make([]T, total(rcounts))
	return verb{
		func(ctx context.Context) error {
			return collectives.Alltoallv(ctx, s.c, dst, collectives.Blocks{Counts: rcounts}, src, collectives.Blocks{Counts: scounts}, s.way("alltoall"))
		},
		func() comm.Request {
			return collectives.Ialltoallv(s.c, dst, collectives.Blocks{Counts: rcounts}, src, collectives.Blocks{Counts: scounts}, s.way("alltoall"))
		},
		func(s *step) error {
			place := 0
			for from := range n {
				first := 0
				for to := range me {
					first += length(from, to)
				}
				if err := took(s, dst[place:place+rcounts[from]], from, first); err != nil {
					return err
				}
				place += rcounts[from]
			}
			return nil
		},
	}
}

func reduceScatter[T number](s *step) verb {
	counts, sum := s.counts()
	src, dst := vector[T](s.id, s.me(), sum), make([]T, counts[s.c.Rank()])
	return verb{
		func(ctx context.Context) error {
			return collectives.ReduceScatter(ctx, s.c, dst, src, counts, collectives.Sum, s.way("reduce-scatter"))
		},
		func() comm.Request {
			return collectives.IreduceScatter(s.c, dst, src, counts, collectives.Sum, s.way("reduce-scatter"))
		},
		func(s *step) error { return summed(s, dst, s.c.Size(), total(counts[:s.c.Rank()])) },
	}
}

func reduceScatterBlock[T number](s *step) verb {
	n := s.part()
	src, dst := vector[T](s.id, s.me(), n*s.c.Size()), make([]T, n)
	return verb{
		func(ctx context.Context) error {
			return collectives.ReduceScatterBlock(ctx, s.c, dst, src, collectives.Sum, s.way("reduce-scatter"))
		},
		func() comm.Request {
			return collectives.IreduceScatterBlock(s.c, dst, src, collectives.Sum, s.way("reduce-scatter"))
		},
		func(s *step) error { return summed(s, dst, s.c.Size(), n*s.c.Rank()) },
	}
}

func runBcastValue(s *step) error {
	root, size := s.rng.IntN(s.c.Size()), min(s.length(), 8193)
	var l letter
	if s.c.Rank() == root {
		l = s.letter(root, size)
	}
	if err := collectives.BcastValue(s.ctx, s.c, root, &l, s.way("bcast")); err != nil {
		return err
	}
	return s.read(l, root, size)
}

func runGatherValue(s *step) error {
	root, size := s.rng.IntN(s.c.Size()), min(s.part(), 512)
	all, err := collectives.GatherValue(s.ctx, s.c, root, s.letter(s.c.Rank(), size), s.way("gather"))
	if err != nil || s.c.Rank() != root {
		return err
	}
	for rank, l := range all {
		if err := s.read(l, rank, size); err != nil {
			return err
		}
	}
	return nil
}

// runScalars calls the collectives of one number.
func runScalars(s *step) error {
	n, me, root := s.c.Size(), s.c.Rank(), s.rng.IntN(s.c.Size())
	mine := value[uint64](s.id, s.me(), 0)
	check := func(got uint64, ranks int) error { return summed(s, []uint64{got}, ranks, 0) }
	var v uint64
	var err error
	switch s.rng.IntN(4) {
	case 0:
		if v, err = collectives.AllreduceOne(s.ctx, s.c, mine, collectives.Sum, s.way("allreduce")); err == nil {
			err = check(v, n)
		}
	case 1:
		if v, err = collectives.ReduceOne(s.ctx, s.c, root, mine, collectives.Sum, s.way("reduce")); err == nil && me == root {
			err = check(v, n)
		}
	case 2:
		if v, err = collectives.BcastOne(s.ctx, s.c, root, mine, s.way("bcast")); err == nil {
			err = took(s, []uint64{v}, root, 0)
		}
	default:
		if v, err = collectives.ScanOne(s.ctx, s.c, mine, collectives.Sum, s.way("scan")); err == nil {
			err = check(v, me+1)
		}
	}
	return err
}

// runEachValue transfers Go values with each collective of values.
func runEachValue(s *step) error {
	n, me, root, size := s.c.Size(), s.c.Rank(), s.rng.IntN(s.c.Size()), min(s.part(), 256)
	var mine []letter
	for range n {
		mine = append(mine, s.letter(me, size))
	}
	readAll := func(all []letter, err error) error {
		if err != nil {
			return err
		}
		for rank, l := range all {
			if err := s.read(l, rank, size); err != nil {
				return err
			}
		}
		return nil
	}
	switch s.rng.IntN(4) {
	case 0:
		return readAll(collectives.AllgatherValue(s.ctx, s.c, mine[0], s.way("allgather")))
	case 1:
		return readAll(collectives.AlltoallValue(s.ctx, s.c, mine, s.way("alltoall")))
	case 2:
		if me != root {
			mine = nil
		}
		l, err := collectives.ScatterValue(s.ctx, s.c, root, mine, s.way("scatter"))
		if err != nil {
			return err
		}
		return s.read(l, root, size)
	}
	l, err := collectives.ReduceValue(s.ctx, s.c, root, mine[0], func(_, b letter) letter { return b }, s.way("gather"))
	if err != nil || me != root {
		return err
	}
	return s.read(l, n-1, size)
}

// runRecords calls collectives of records. The reduction returns the records of the last rank, so a
// truncated record would be detected.
func runRecords(s *step) error {
	n, last := s.part(), s.c.Size()-1
	dst := make([]triple, n)
	right := collectives.CustomOf(func(acc, in []triple) { copy(acc, in) }, false)
	if err := collectives.Allreduce(s.ctx, s.c, dst, s.triples(s.me(), n), right, s.way("allreduce")); err != nil {
		return err
	}
	if err := s.tookTriples(dst, last); err != nil {
		return err
	}
	root := s.rng.IntN(s.c.Size())
	v := s.triples(s.me(), n)
	if err := collectives.Bcast(s.ctx, s.c, root, v, s.way("bcast")); err != nil {
		return err
	}
	return s.tookTriples(v, root)
}

func runLoc(s *step) error {
	root, all := s.rng.IntN(s.c.Size()), one(s.rng, 2)
	n := 1 + s.rng.IntN(20)
	src, dst := make([]collectives.Loc[int], n), make([]collectives.Loc[int], n)
	for i := range src {
		src[i] = collectives.Loc[int]{Value: int(value[uint64](s.id, s.me(), i)), Index: s.c.Rank()}
	}
	var err error
	if all {
		err = collectives.AllreduceLoc(s.ctx, s.c, dst, src, collectives.MaxLoc, s.way("allreduce"))
	} else {
		err = collectives.ReduceLoc(s.ctx, s.c, root, dst, src, collectives.MaxLoc, s.way("reduce"))
	}
	if err != nil || !all && s.c.Rank() != root {
		return err
	}
	for i, got := range dst {
		want := collectives.Loc[int]{Value: -1}
		for rank, proc := range s.g.procs {
			if v := int(value[uint64](s.id, proc, i)); v > want.Value {
				want = collectives.Loc[int]{Value: v, Index: rank}
			}
		}
		if got != want {
			return s.broken("the largest at %d is %v, want %v", i, got, want)
		}
	}
	return nil
}

// runReproducible sums floats in a fixed order, and the members compare their sums.
func runReproducible(s *step) error {
	v := make([]float64, 1+s.rng.IntN(2000))
	for i := range v {
		v[i] = 1 / float64(1+word(s.id, s.me(), i)%1000)
	}
	if err := collectives.Allreduce(s.ctx, s.c, v, v, collectives.Sum, s.way("allreduce"), collectives.Reproducible()); err != nil {
		return err
	}
	low, high := slices.Clone(v), slices.Clone(v)
	if err := collectives.Allreduce(s.ctx, s.c, low, low, collectives.Min, s.way("allreduce")); err != nil {
		return err
	}
	if err := collectives.Allreduce(s.ctx, s.c, high, high, collectives.Max, s.way("allreduce")); err != nil {
		return err
	}
	if !slices.Equal(low, high) {
		return s.broken("sums differ between the members")
	}
	return nil
}

// runGivenUp makes one member give up a collective. The communicator is revoked, unless the others
// had entered before.
func runGivenUp(s *step) error {
	victim := s.rng.IntN(s.c.Size())
	ctx := s.ctx
	if s.c.Rank() == victim {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.shortly(s.own))
		defer cancel()
		s.m.log.put(record{What: recRevoke, Step: s.name, Comm: s.g.name})
	} else {
		s.pause()
	}
	v := s.words(s.length())
	err := collectives.Allreduce(ctx, s.c, v, v, collectives.Sum, s.way("allreduce"))
	switch {
	case err == nil:
		return summed(s, v, s.c.Size(), 0)
	case errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil:
		return errors.Join(errContext, err)
	}
	return err
}
