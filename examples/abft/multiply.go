package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/goulfm/goulfm/collectives"
	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/recovery"
)

// A process is the data that one process keeps from attempt to attempt. Nothing of it is protected.
type process struct {
	n, steps int
	out      io.Writer
	spoil    func(rank, size, step int, c []int64) // after a step, from 1: flips bits

	columns [][]int // of this rank; nil: a new process
	b       []int64 // its columns of B
	c       *block  // its columns of C, after done steps; nil: lost
	done    int
}

// none is the number of steps of a rank that has lost its block.
const none = -1

// run is called again after each death. The ranks may have come to different steps, and a new
// process has nothing.
func (p *process) run(ctx context.Context, w *recovery.World) error {
	if w.Size() < 2 {
		return errors.New("abft: at least 2 ranks are needed, since one has the checksums")
	}
	c := w.Comm()
	if p.columns == nil {
		p.columns = columns(p.n, c.Rank(), c.Size())
		p.b = p.makeB()
		if w.Role() != recovery.RoleRecovered { // a process that replaces no other has lost nothing, even if it joins late
			p.c = newBlock(p.n, len(p.columns)-1)
		}
	}
	next, err := p.restore(ctx, c)
	if err != nil {
		return err
	}
	if err := p.multiply(ctx, c, next, p.steps); err != nil {
		return err
	}
	return p.report(ctx, c)
}

// restore gives each rank without a block a new one, and returns the next step. If exactly one rank
// has no block, the others advance to the step of the most advanced of them. The missing block is
// then computed from theirs.
func (p *process) restore(ctx context.Context, c *comm.Comm) (next int, err error) {
	mine := none
	if p.c != nil {
		mine = p.done
	}
	done, err := collectives.AllgatherValue(ctx, c, mine)
	if err != nil {
		return 0, err
	}
	lost := slices.Index(done, none)
	there := slices.DeleteFunc(slices.Clone(done), func(n int) bool { return n == none })
	if len(there) == c.Size()-1 {
		last := slices.Max(there)
		if err := p.multiply(ctx, c, slices.Min(there), last); err != nil {
			return 0, err
		}
		return last, p.rebuild(ctx, c, lost, last)
	}
	if p.c == nil {
		p.c, p.done = newBlock(p.n, len(p.columns)-1), 0
	}
	return max(slices.Min(done), 0), nil
}

// rebuild computes the block of rank lost: the sum of all blocks less all others, or, if the block
// of sums was lost, the sum.
func (p *process) rebuild(ctx context.Context, c *comm.Comm, lost, done int) error {
	c.Mark("rebuild", 1)
	last := c.Size() - 1
	fresh := newBlock(p.n, len(p.columns)-1)
	part := fresh.v // zero, at the rank that has lost its block
	if c.Rank() != lost {
		part = slices.Clone(p.c.v)
	}
	if lost != last && c.Rank() != last {
		for i := range part {
			part[i] = -part[i]
		}
	}
	if err := collectives.Reduce(ctx, c, lost, fresh.v, part, collectives.Sum); err != nil || c.Rank() != lost {
		return err
	}
	p.c, p.done = fresh, done
	fmt.Fprintf(p.out, "rank %d: block from checksums, as it was after step %d\n", lost, done)
	return p.check(c.Rank(), done)
}

// multiply does the steps from first to last-1. Each step adds the product of some columns of A,
// which one rank broadcasts, and as many rows of B. A rank that has done a step before, or has lost
// its block, only takes part in the broadcast.
func (p *process) multiply(ctx context.Context, c *comm.Comm, first, last int) error {
	for step := first; step < last; step++ {
		c.Mark("step", step+1)
		lo, hi := comm.Block(p.n, p.steps, step)
		panel := make([]int64, (p.n+1)*(hi-lo))
		owner := step % c.Size()
		if c.Rank() == owner {
			p.fillPanel(panel, lo, hi)
		}
		if err := collectives.Bcast(ctx, c, owner, panel); err != nil {
			return err
		}
		if p.c == nil || p.done != step {
			continue
		}
		p.c.add(panel, p.b[lo*len(p.columns):hi*len(p.columns)])
		p.spoil(c.Rank(), c.Size(), step+1, p.c.v)
		if err := p.check(c.Rank(), step+1); err != nil {
			return err
		}
		p.done++
	}
	return nil
}

// check corrects a flipped entry. A block with more errors counts as lost, and the body is called
// again, as after a death.
func (p *process) check(rank, step int) error {
	i, j, err := p.c.mend()
	if err != nil {
		p.c = nil
		return recovery.Rollback(err.Error())
	}
	if i >= 0 {
		fmt.Fprintf(p.out, "rank %d: step %d: row %d, column %d of the block was wrong, and is right again\n", rank, step, i, j)
	}
	return nil
}

// fillPanel makes columns lo to hi-1 of A, with the row of their sums.
func (p *process) fillPanel(panel []int64, lo, hi int) {
	width := hi - lo
	sums := panel[p.n*width:]
	for i := range p.n {
		for k := range width {
			a := entryA(i, lo+k)
			panel[i*width+k] = a
			sums[k] += a
		}
	}
}

// makeB makes this rank's columns of B, some of them sums.
func (p *process) makeB() []int64 {
	var b []int64
	for k := range p.n {
		for _, of := range p.columns {
			sum := int64(0)
			for _, column := range of {
				sum += entryB(k, column)
			}
			b = append(b, sum)
		}
	}
	return b
}

// report compares C with the known product and prints the result, at least once.
func (p *process) report(ctx context.Context, c *comm.Comm) error {
	residual, sum := int64(0), uint64(0)
	for i := range p.n {
		for j, of := range p.columns {
			want, got := int64(0), p.c.row(i)[j]
			for _, column := range of {
				want += product(p.n, i, column)
			}
			residual = max(residual, got-want, want-got)
			if c.Rank() < c.Size()-1 && len(of) == 1 && j < len(p.columns)-1 {
				sum += mix(mix(uint64(i*p.n+of[0])) ^ uint64(got))
			}
		}
	}
	residual, err := collectives.AllreduceOne(ctx, c, residual, collectives.Max)
	if err != nil {
		return err
	}
	sum, err = collectives.ReduceOne(ctx, c, 0, sum, collectives.Sum)
	if err != nil || c.Rank() > 0 {
		return err
	}
	c.Mark("report", 1)
	fmt.Fprintf(p.out, "result: n=%d residual=%d checksum=%016x\n", p.n, residual, sum)
	if residual != 0 {
		return fmt.Errorf("abft: C is wrong by %d", residual)
	}
	return nil
}

// mix is the finalizer of SplitMix64: each bit of v changes about half of the bits of the result.
// So the sum of the mixed entries is a checksum that does not depend on how entries are divided
// among ranks.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
