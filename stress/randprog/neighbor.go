package main

import (
	"context"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
)

// neighbours checks the block from each existing neighbour; at returns the index in the neighbour's
// vector at which the block begins.
func neighbours[T number](s *step, all []T, count func(i int) int, at func(i int) int) error {
	place := 0
	for i, rank := range s.g.in {
		if n := count(i); rank >= 0 {
			if err := took(s, all[place:place+n], rank, at(i)); err != nil {
				return err
			}
		}
		place += count(i)
	}
	return nil
}

func neighborAllgather[T number](s *step) verb {
	if !s.g.topo {
		return verb{}
	}
	n := s.part()
	src, all := vector[T](s.id, s.me(), n), make([]T, n*len(s.g.in))
	return verb{
		func(ctx context.Context) error { return collectives.NeighborAllgather(ctx, s.c, all, src) },
		func() comm.Request { return collectives.IneighborAllgather(s.c, all, src) },
		func(s *step) error { return neighbours(s, all, even(n), even(0)) },
	}
}

func neighborAllgatherv[T number](s *step) verb {
	if !s.g.topo {
		return verb{}
	}
	base := s.part()
	length := func(rank int) int {
		if rank < 0 {
			return 0
		}
		return int(word(s.id+2, rank, 0) % uint64(base+1))
	}
	var counts []int
	for _, rank := range s.g.in {
		counts = append(counts, length(rank))
	}
	src, all := vector[T](s.id, s.me(), length(s.c.Rank())), make([]T, total(counts))
	return verb{
		func(ctx context.Context) error {
			return collectives.NeighborAllgatherv(ctx, s.c, all, collectives.Blocks{Counts: counts}, src)
		},
		func() comm.Request {
			return collectives.IneighborAllgatherv(s.c, all, collectives.Blocks{Counts: counts}, src)
		},
		func(s *step) error { return neighbours(s, all, nth(counts), even(0)) },
	}
}

// neighborAlltoall sends the same block to all, because several edges may join two ranks.
func neighborAlltoall[T number](s *step) verb {
	if !s.g.topo {
		return verb{}
	}
	n := s.part()
	var src []T
	for range s.g.out {
		src = append(src, vector[T](s.id, s.me(), n)...)
	}
	all := make([]T, n*len(s.g.in))
	return verb{
		func(ctx context.Context) error { return collectives.NeighborAlltoall(ctx, s.c, all, src) },
		func() comm.Request { return collectives.IneighborAlltoall(s.c, all, src) },
		func(s *step) error { return neighbours(s, all, even(n), even(0)) },
	}
}

func neighborAlltoallv[T number](s *step) verb {
	if !s.g.topo {
		return verb{}
	}
	base := s.part()
	length := func(from, to int) int {
		if from < 0 || to < 0 {
			return 0
		}
		return int(word(s.id+3, from, to) % uint64(base+1))
	}
	var src []T
	var scounts, rcounts []int
	for _, to := range s.g.out {
		n := length(s.c.Rank(), to)
		src, scounts = append(src, vector[T](s.id, s.me(), n)...), append(scounts, n)
	}
	for _, from := range s.g.in {
		rcounts = append(rcounts, length(from, s.c.Rank()))
	}
	all := make([]T, total(rcounts))
	return verb{
		func(ctx context.Context) error {
			return collectives.NeighborAlltoallv(ctx, s.c, all, collectives.Blocks{Counts: rcounts}, src, collectives.Blocks{Counts: scounts})
		},
		func() comm.Request {
			return collectives.IneighborAlltoallv(s.c, all, collectives.Blocks{Counts: rcounts}, src, collectives.Blocks{Counts: scounts})
		},
		func(s *step) error { return neighbours(s, all, nth(rcounts), even(0)) },
	}
}
