package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// pairs makes collectives of two members of sizes at which the table changes its mind:
// through memory, and by messages that the kernel copies.
func pairs(ctx context.Context, w *comm.Comm) error {
	if err := differ(ctx, w); err != nil {
		return err
	}
	c, err := w.Split(ctx, w.Rank()/2, 0)
	if err != nil || c.Size() < 2 {
		return err
	}
	for _, n := range []int{1 << 10, 5 << 10, 9 << 10, 9 << 10, 70_001, 300_001} {
		for _, inPlace := range []bool{false, true} {
			if err := reductions(ctx, c, n, inPlace); err != nil {
				return fmt.Errorf("%d numbers, in place %v: %w", n, inPlace, err)
			}
		}
		for root := range 2 {
			if err := copies(ctx, c, root, n); err != nil {
				return fmt.Errorf("%d numbers, root %d: %w", n, root, err)
			}
		}
	}
	return nil
}

// differ makes large calls that differ, as the first ones: nobody waits for ever.
func differ(ctx context.Context, w *comm.Comm) error {
	c, err := w.Split(ctx, w.Rank()/2, 0)
	if err != nil || c.Size() < 2 {
		return err
	}
	v := make([]int64, 9<<10)
	if c.Rank() == 0 {
		err = collectives.Allreduce(ctx, c, v, v, collectives.Sum)
	} else {
		err = collectives.Scan(ctx, c, v, v, collectives.Sum)
	}
	if !errors.Is(err, comm.ErrMismatch) && !errors.Is(err, ulfm.ErrRevoked) {
		return fmt.Errorf("an allreduce and a scan: %v, want a mismatch", err)
	}
	return nil
}

// reductions makes one of each kind; member m has the numbers 10*i + m.
func reductions(ctx context.Context, c *comm.Comm, n int, inPlace bool) error {
	me := c.Rank()
	vectors := func() (dst, src []int64) {
		src = make([]int64, n)
		for i := range src {
			src[i] = int64(10*i + me)
		}
		if inPlace {
			return src, src
		}
		return make([]int64, n), src
	}
	for _, r := range []struct {
		name string
		make func(dst, src []int64) error
		want func(i int) int64 // -1: nothing
	}{
		{"reduce to 0", func(dst, src []int64) error { return collectives.Reduce(ctx, c, 0, dst, src, collectives.Sum) },
			func(i int) int64 { return choose(me == 0, 20*i+1) }},
		{"reduce to 1", func(dst, src []int64) error { return collectives.Reduce(ctx, c, 1, dst, src, collectives.Sum) },
			func(i int) int64 { return choose(me == 1, 20*i+1) }},
		{"allreduce", func(dst, src []int64) error { return collectives.Allreduce(ctx, c, dst, src, collectives.Sum) },
			func(i int) int64 { return int64(20*i + 1) }},
		{"scan", func(dst, src []int64) error { return collectives.Scan(ctx, c, dst, src, collectives.Sum) },
			func(i int) int64 { return int64(10*i + me*(10*i+1)) }},
		{"exscan", func(dst, src []int64) error { return collectives.Exscan(ctx, c, dst, src, collectives.Sum) },
			func(i int) int64 { return choose(me == 1, 10*i) }},
	} {
		dst, src := vectors()
		if err := r.make(dst, src); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		for i, v := range dst {
			if want := r.want(i); want >= 0 && v != want {
				return fmt.Errorf("%s: number %d is %d, want %d", r.name, i, v, want)
			}
		}
	}
	return nil
}

// copies moves vectors from and to a root.
func copies(ctx context.Context, c *comm.Comm, root, n int) error {
	of := func(rank int) []byte { return fill(make([]byte, 8*n), 10*root+rank) }
	mine := of(c.Rank())
	buf := slices.Clone(mine)
	if err := collectives.Bcast(ctx, c, root, buf); err != nil {
		return err
	}
	if !bytes.Equal(buf, of(root)) {
		return errors.New("bcast: wrong data")
	}
	var all []byte
	if c.Rank() == root {
		all = make([]byte, 16*n)
	}
	if err := collectives.Gather(ctx, c, root, all, mine); err != nil {
		return err
	}
	if all != nil && !bytes.Equal(all, slices.Concat(of(0), of(1))) {
		return errors.New("gather: wrong data")
	}
	if err := collectives.Scatter(ctx, c, root, buf, all); err != nil {
		return err
	}
	if !bytes.Equal(buf, mine) {
		return errors.New("scatter: wrong data")
	}
	return nil
}

func choose(wanted bool, v int) int64 {
	if wanted {
		return int64(v)
	}
	return -1
}
