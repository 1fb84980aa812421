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

func gathers(x *trial) error { return allgather(x, 0, 512) }

// blocks makes the collectives that move a block for each member, of those lengths.
func blocks(lengths ...int) func(*trial) error {
	return func(x *trial) error {
		for i, n := range lengths {
			for _, f := range []func(x *trial, i, n int) error{gather, scatter, allgather, alltoall} {
				if err := f(x, i, n); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func gather(x *trial, i, n int) error {
	root := (i + 1) % x.c.Size()
	all := make([]uint64, n*x.c.Size())
	if err := collectives.Gather(x.ctx, x.c, root, all, numbers(x.c.Rank(), i, n)); err != nil || x.c.Rank() != root {
		return err
	}
	return parted("gather", all, n, func(rank int) []uint64 { return numbers(rank, i, n) })
}

func allgather(x *trial, i, n int) error {
	all := make([]uint64, n*x.c.Size())
	if err := collectives.Allgather(x.ctx, x.c, all, numbers(x.c.Rank(), i, n)); err != nil {
		return err
	}
	return parted("allgather", all, n, func(rank int) []uint64 { return numbers(rank, i, n) })
}

func scatter(x *trial, i, n int) error {
	root, size := i%x.c.Size(), x.c.Size()
	mine := make([]uint64, n)
	if err := collectives.Scatter(x.ctx, x.c, root, mine, numbers(root, i, n*size)); err != nil {
		return err
	}
	return parted("scatter", mine, n, func(int) []uint64 { return numbers(root, i, n*size)[x.c.Rank()*n:] })
}

func alltoall(x *trial, i, n int) error {
	size := x.c.Size()
	all := make([]uint64, n*size)
	if err := collectives.Alltoall(x.ctx, x.c, all, numbers(x.c.Rank(), i, n*size)); err != nil {
		return err
	}
	return parted("alltoall", all, n, func(rank int) []uint64 { return numbers(rank, i, n*size)[x.c.Rank()*n:] })
}

// parted compares parts of n numbers with the beginning of what each should be.
func parted(what string, all []uint64, n int, want func(part int) []uint64) error {
	for part := range len(all) / n {
		if !slices.Equal(all[part*n:(part+1)*n], want(part)[:n]) {
			return fmt.Errorf("wrong data: %s of %d numbers, part %d", what, n, part)
		}
	}
	return nil
}

// scans makes the reductions of which each member gets another part.
func scans(lengths ...int) func(*trial) error {
	return func(x *trial) error {
		me, size := x.c.Rank(), x.c.Size()
		for i, n := range lengths {
			v := make([]uint64, n)
			if err := collectives.Scan(x.ctx, x.c, v, numbers(me, i, n), collectives.Sum); err != nil {
				return err
			}
			if !slices.Equal(v, total(me+1, i, n)) {
				return fmt.Errorf("wrong data: scan of %d numbers", n)
			}
			if err := collectives.Exscan(x.ctx, x.c, v, numbers(me, i, n), collectives.Sum); err != nil {
				return err
			}
			if me > 0 && !slices.Equal(v, total(me, i, n)) {
				return fmt.Errorf("wrong data: exscan of %d numbers", n)
			}
			if err := collectives.ReduceScatterBlock(x.ctx, x.c, v, numbers(me, i, n*size), collectives.Sum); err != nil {
				return err
			}
			if !slices.Equal(v, total(size, i, n*size)[me*n:][:n]) {
				return fmt.Errorf("wrong data: reduce_scatter of %d numbers", n)
			}
		}
		return nil
	}
}
