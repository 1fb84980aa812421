package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// creationOps make communicators: at every live member or at none.
var creationOps = []*operation{
	{name: "dup", weight: 6, run: runDup, makes: true, stays: true},
	{name: "split", weight: 6, run: runSplit, makes: true, stays: true},
	{name: "split-node", weight: 3, run: runSplitNode, makes: true, stays: true},
	{name: "create", weight: 4, run: runCreate, makes: true, stays: true},
	{name: "create-group", weight: 6, run: runCreateGroup, makes: true, ofGroup: true, stays: true},
	{name: "cart", weight: 3, run: runCart, makes: true, stays: true},
	{name: "graph", weight: 3, run: runGraph, makes: true, stays: true},
	{name: "dist-graph", weight: 3, run: runDistGraph, makes: true, stays: true},
	{name: "wrong-split", weight: 2, run: runWrongSplit, makes: true, stays: true},
	{name: "brief", weight: 5, run: runBrief, makes: true, stays: true},
	{name: "self", weight: 2, run: runSelf, stays: true},
	{name: "free-early", weight: 2, run: runFreeEarly, makes: true, stays: true},
}

// makes takes the result of a creation, and checks its members; want are processes.
func (s *step) makes(c *comm.Comm, err error, want []int) error {
	if err != nil {
		return err
	}
	if at := slices.Index(want, s.me()); (c == nil) != (at < 0) || c != nil && (c.Rank() != at || !slices.Equal(c.Group().Processes(), want)) {
		if c == nil {
			return s.broken("no communicator, want one of %v", want)
		}
		return s.broken("a communicator of %v, here rank %d; want one of %v", c.Group().Processes(), c.Rank(), want)
	}
	if c != nil {
		s.made.c, s.made.procs = c, want
	}
	return nil
}

// neighbors takes the topology of the new communicator.
func (s *step) neighbors(err error) error {
	if err == nil && s.made.c != nil {
		s.made.topo = true
		s.made.in, s.made.out = s.made.c.Neighbors()
	}
	return err
}

func runDup(s *step) error {
	c, err := s.c.Dup(s.ctx)
	err = s.makes(c, err, s.g.procs)
	if s.g.topo {
		return s.neighbors(err)
	}
	return err
}

// runSplit splits into parts, each with a new order.
func runSplit(s *step) error {
	parts := 1 + s.rng.IntN(3)
	colors, keys := make([]int, s.c.Size()), make([]int, s.c.Size())
	for i := range colors {
		colors[i], keys[i] = s.rng.IntN(parts), s.rng.IntN(4)
		if one(s.rng, 8) {
			colors[i] = comm.Undefined
		}
	}
	me := s.c.Rank()
	var ranks []int
	for i := range colors {
		if colors[i] == colors[me] && colors[me] != comm.Undefined {
			ranks = append(ranks, i)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return keys[a] - keys[b] })
	c, err := s.c.Split(s.ctx, colors[me], keys[me])
	return s.makes(c, err, s.processes(ranks))
}

func (s *step) processes(ranks []int) (procs []int) {
	for _, r := range ranks {
		procs = append(procs, s.g.procs[r])
	}
	return procs
}

func runSplitNode(s *step) error {
	var want []int
	for _, p := range s.g.procs {
		if s.m.r.nodeOf(p) == s.m.r.nodeOf(s.me()) {
			want = append(want, p)
		}
	}
	c, err := s.c.SplitNode(s.ctx)
	return s.makes(c, err, want)
}

// subset draws some ranks, in random order.
func (s *step) subset() []int { return s.rng.Perm(s.c.Size())[:1+s.rng.IntN(s.c.Size())] }

func runCreate(s *step) error {
	ranks := s.subset()
	g, err := s.c.Group().Incl(ranks...)
	if err != nil {
		return s.broken("a group of %v: %v", ranks, err)
	}
	c, err := s.c.Create(s.ctx, g)
	return s.makes(c, err, s.processes(ranks))
}

func runCreateGroup(s *step) error {
	ranks, tag := s.subset(), s.rng.IntN(3)
	g, err := s.c.Group().Incl(ranks...)
	if err != nil {
		return s.broken("a group of %v: %v", ranks, err)
	}
	c, err := s.c.CreateGroup(s.ctx, g, tag)
	return s.makes(c, err, s.processes(ranks))
}

func runCart(s *step) error {
	n := 1 + s.rng.IntN(s.c.Size())
	dims := make([]int, 1+s.rng.IntN(2))
	dims, err := comm.DimsCreate(n, dims)
	if err != nil {
		return s.broken("dims of %d: %v", n, err)
	}
	periodic := make([]bool, len(dims))
	for i := range periodic {
		periodic[i] = one(s.rng, 2)
	}
	c, err := s.c.Cart(s.ctx, dims, periodic, one(s.rng, 2))
	return s.neighbors(s.makes(c, err, s.g.procs[:n]))
}

// edges draws a graph: the destinations of each rank. Two ranks may be joined in both directions.
func (s *step) edges(n int) [][]int {
	all := make([][]int, n)
	for i := range all {
		for range s.rng.IntN(3) {
			all[i] = append(all[i], s.rng.IntN(n))
		}
		slices.Sort(all[i])
		all[i] = slices.Compact(all[i])
	}
	return all
}

func runGraph(s *step) error {
	n := 1 + s.rng.IntN(s.c.Size())
	all := s.edges(n)
	for i, to := range all { // make edges symmetric
		for _, j := range to {
			if !slices.Contains(all[j], i) {
				all[j] = append(all[j], i)
			}
		}
	}
	c, err := s.c.Graph(s.ctx, all)
	return s.neighbors(s.makes(c, err, s.g.procs[:n]))
}

func runDistGraph(s *step) error {
	all, me := s.edges(s.c.Size()), s.c.Rank()
	var sources []int
	for i, to := range all {
		if slices.Contains(to, me) {
			sources = append(sources, i)
		}
	}
	c, err := s.c.DistGraph(s.ctx, sources, all[me])
	return s.neighbors(s.makes(c, err, s.g.procs))
}

// runWrongSplit makes one member pass a wrong argument: all get an error, and no communicator is
// made.
func runWrongSplit(s *step) error {
	victim, want := s.rng.IntN(s.c.Size()), comm.ErrPeerArgument
	color := 0
	if s.c.Rank() == victim {
		color, want = -1, errors.Join(comm.ErrLength)
	}
	c, err := s.c.Split(s.ctx, color, 0)
	switch class := classify(err); {
	case err == nil:
		return s.broken("a split with a wrong colour made a communicator of %v", c.Group().Processes())
	case class == classFailed, class == classRevoked, class == classFenced:
		return err
	case s.c.Rank() != victim && !errors.Is(err, want):
		return s.broken("a split with a wrong colour elsewhere: %v", err)
	}
	s.out = "wrong"
	return nil
}

// runBrief makes a communicator, uses it, and frees it as soon as its own part is done, while
// others may still be in their parts.
func runBrief(s *step) error {
	c, err := s.briefly()
	if err != nil || c == nil {
		return err
	}
	s.m.log.put(record{What: recEnd, Step: s.name, Op: s.op.name, Comm: s.g.name, From: s.g.name, Out: "made"})
	// From here on the step uses the new communicator.
	s.g = &group{name: s.made.name, c: c, procs: c.Group().Processes()}
	s.c, s.made = c, nil
	s.m.member(s.g)
	rng := stream(s.m.r.seed, 11, uint64(s.number), uint64(s.g.procs[0]))
	uses := []func(*step) error{runBarrier, runExchange, runSsendRing, pairwise(pingpong), pairwise(swap),
		func(s *step) error { return bcast[uint64](s).run(s) }, func(s *step) error { return allreduce[float64](s).run(s) },
		func(s *step) error { return gather[int32](s).run(s) }, func(s *step) error { return scatterv[uint8](s).run(s) },
		func(s *step) error { return alltoallv[uint64](s).run(s) }, func(s *step) error { return scan[uint64](s).run(s) }}
	for range 1 + rng.IntN(3) {
		use := uses[rng.IntN(len(uses))]
		s.rng = rand.New(rand.NewPCG(rng.Uint64(), 0)) // members may draw different amounts from rng
		if err = use(s); err != nil {
			s.m.revoke(s.g) // others may wait for this member
			break
		}
	}
	return errors.Join(err, c.Free())
}

func (s *step) briefly() (*comm.Comm, error) {
	switch s.rng.IntN(3) {
	case 0:
		return s.c.Dup(s.ctx)
	case 1:
		return s.c.Split(s.ctx, s.c.Rank()%2, 0)
	}
	return s.c.SplitNode(s.ctx)
}

// runSelf makes a communicator of this process alone, which no death affects.
func runSelf(s *step) error {
	c, err := comm.Self(s.c)
	if err != nil {
		return err
	}
	v := s.words(100)
	err = errors.Join(collectives.Barrier(s.ctx, c, s.way("barrier")), collectives.Allreduce(s.ctx, c, v, v, collectives.Sum, s.way("allreduce")))
	if class := classify(err); class == classFailed || class == classRevoked {
		return s.broken("on a communicator of this process alone: %v", err)
	}
	if err == nil && wrongAt(v, s.id, s.me(), 0) >= 0 {
		return s.broken("a sum of one is another number")
	}
	return errors.Join(err, c.Free())
}

// runFreeEarly makes one of two ranks send, and free the request and the communicator at once.
func runFreeEarly(s *step) error {
	c, err := s.c.Dup(s.ctx)
	if err != nil {
		return err
	}
	s.m.log.put(record{What: recMember, Comm: s.made.name, Procs: s.g.procs})
	order := s.rng.Perm(c.Size())
	size := s.length()
	at := slices.Index(order, c.Rank())
	peer := at ^ 1
	tag := math.MaxInt32
	if peer < len(order) && at&1 == 0 {
		r := comm.Isend(c.To(order[peer]).Tag(tag), s.words(size))
		if err = r.Free(); errors.Is(err, comm.ErrInactive) {
			err = nil
		}
	} else if peer < len(order) {
		in := make([]uint64, size)
		var st comm.Status
		if st, err = comm.Recv(s.ctx, c.From(order[peer]).Tag(tag), in); err == nil {
			err = s.got(st, in, order[peer], size)
		}
		if errors.Is(err, comm.ErrFreed) {
			err = nil
		}
		if classify(err) == classRevoked && !s.c.IsRevoked() && !s.m.r.uniform {
			err = s.broken("%v, and nobody has", err)
		}
	}
	if err2 := c.Free(); err2 != nil && err == nil {
		err = err2
	}
	s.out = "made"
	return err
}
