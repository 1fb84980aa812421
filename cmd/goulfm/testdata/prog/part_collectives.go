package main

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/collectives"
)

func barriers(times int) func(*trial) error {
	return func(x *trial) error {
		for range times {
			if err := collectives.Barrier(x.ctx, x.c); err != nil {
				return err
			}
		}
		return nil
	}
}

// numbers is what the rank gives to the i-th collective of a part.
func numbers(rank, i, n int) []uint64 {
	v := make([]uint64, n)
	for at := range v {
		v[at] = uint64(rank+1)*uint64(at+i+1) + uint64(i)
	}
	return v
}

// total is the sum of numbers over all ranks.
func total(ranks, i, n int) []uint64 {
	v := make([]uint64, n)
	for rank := range ranks {
		for at, u := range numbers(rank, i, n) {
			v[at] += u
		}
	}
	return v
}

func bcasts(lengths ...int) func(*trial) error {
	return func(x *trial) error {
		for i, n := range lengths {
			root := (i + 1) % x.c.Size()
			v := numbers(x.c.Rank(), i, n)
			if err := collectives.Bcast(x.ctx, x.c, root, v); err != nil {
				return err
			}
			if !slices.Equal(v, numbers(root, i, n)) {
				return fmt.Errorf("wrong data: bcast of %d numbers", n)
			}
		}
		return nil
	}
}

func reduces(lengths ...int) func(*trial) error {
	return func(x *trial) error {
		for i, n := range lengths {
			root := (i + 1) % x.c.Size()
			v := make([]uint64, n)
			if err := collectives.Reduce(x.ctx, x.c, root, v, numbers(x.c.Rank(), i, n), collectives.Sum); err != nil {
				return err
			}
			if x.c.Rank() == root && !slices.Equal(v, total(x.c.Size(), i, n)) {
				return fmt.Errorf("wrong data: reduce of %d numbers", n)
			}
		}
		return nil
	}
}

func allreduces(lengths ...int) func(*trial) error {
	return func(x *trial) error {
		for i, n := range lengths {
			v := numbers(x.c.Rank(), i, n)
			if err := collectives.Allreduce(x.ctx, x.c, v, v, collectives.Sum); err != nil {
				return err
			}
			if !slices.Equal(v, total(x.c.Size(), i, n)) {
				return fmt.Errorf("wrong data: allreduce of %d numbers", n)
			}
		}
		return nil
	}
}

func gathers(x *trial) error {
	const n = 512
	all := make([]uint64, n*x.c.Size())
	if err := collectives.Allgather(x.ctx, x.c, all, numbers(x.c.Rank(), 0, n)); err != nil {
		return err
	}
	for rank := range x.c.Size() {
		if !slices.Equal(all[rank*n:][:n], numbers(rank, 0, n)) {
			return fmt.Errorf("wrong data: allgather, part %d", rank)
		}
	}
	return nil
}
