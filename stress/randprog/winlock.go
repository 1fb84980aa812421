package main

import (
	"context"
	"errors"
	"slices"

	"github.com/goulfm/goulfm/rma"
)

// A crew is the state of a step in which each member changes two numbers of one target under its
// lock, one after the other. A member that acquires the lock finds the numbers equal, or repairs
// them after a death between the two changes.
type crew struct {
	*pane
	target        int
	first, second int // the indices of the numbers
	count         int // changes made here
}

// locks makes all members lock one target several times.
func (s *pane) locks() {
	c := &crew{pane: s, target: s.rng.IntN(s.g.size()), first: s.commonAt(1), second: s.commonAt(2)}
	most, goes := 1+s.rng.IntN(12), true
	for i := 0; i < most && goes; i++ {
		goes = c.once()
	}
	done := goes && s.goesOn(s.w.At(c.target).Flush(s.ctx), c.target) && s.putCount(c.target, c.count)
	c.settle(s.meet(done), most)
}

// putCount stores the number of this member's changes at the target.
func (s *pane) putCount(target, count int) bool {
	to := s.w.At(target)
	err := to.Store(s.ctx, s.partAt(s.c.Rank()), uint64(count))
	if err == nil {
		err = to.Flush(s.ctx)
	}
	return s.ok(err, target)
}

// once makes one change, or only reads; false: the target or the window is no longer usable.
func (c *crew) once() bool {
	mode := pick(c.own, rma.LockExclusive, rma.LockExclusive, rma.LockExclusive, rma.LockShared, rma.LockMend)
	err := c.lock(mode)
	if broken := c.holderDied(err); broken {
		mode = rma.LockMend
		err = c.lock(mode)
	}
	if !c.ok(err, c.target) {
		return false
	}
	if !c.inside(mode) {
		// The lock is not released: a member that does not know the reason yet would find the
		// change half done. Members that wait for the lock get the same error.
		return false
	}
	return c.ok(c.w.At(c.target).Unlock(c.ctx), c.target)
}

// lock acquires the lock, sometimes first with a short timeout.
func (c *crew) lock(mode rma.LockMode) error {
	if one(c.own, 4) {
		ctx, cancel := context.WithTimeout(c.ctx, c.shortly(c.own))
		defer cancel()
		if err := c.w.At(c.target).Lock(ctx, mode); !errors.Is(err, context.DeadlineExceeded) || c.ctx.Err() != nil {
			return err
		}
	}
	return c.w.At(c.target).Lock(c.ctx, mode)
}

// holderDied reports whether an error of Lock means a broken lock (W11): the error names the
// holder, not the target.
func (c *crew) holderDied(err error) bool {
	if classify(err) != classFailed || slices.Contains(namedRanks(err), c.target) && c.isDead(c.target) {
		return false
	}
	c.ok(err, c.others()...)
	return true
}

// others returns all ranks except this one.
func (s *pane) others() []int {
	return slices.DeleteFunc(s.everybody(), func(rank int) bool { return rank == s.c.Rank() })
}

// inside makes the calls under the lock; false: a call failed.
func (c *crew) inside(mode rma.LockMode) bool {
	to, v := c.w.At(c.target), make([]uint64, 2)
	if !c.ok(to.Get(c.ctx, c.first, v), c.target) {
		return false
	}
	if mode == rma.LockMend && v[0] == v[1]+1 {
		if !c.ok(to.Store(c.ctx, c.second, v[0]), c.target) {
			return false
		}
		v[1] = v[0]
	}
	if v[0] != v[1] {
		_ = c.broken("under the lock (%v) of rank %d there are %d and %d", mode, c.target, v[0], v[1])
	}
	if mode == rma.LockShared {
		return true
	}
	if !c.ok(to.Put(c.ctx, c.first, []uint64{v[0] + 1}), c.target) {
		return false
	}
	c.tempt()
	if one(c.own, 4) {
		c.pause()
	}
	if !c.ok(to.Store(c.ctx, c.second, v[0]+1), c.target) { // ordered after the Put (P1)
		return false
	}
	c.count++
	return true
}

// settle checks the changes of all members: members that report completion have made the stored
// number of changes, the others at most the planned number.
func (c *crew) settle(who []bool, most int) {
	low, high := uint64(0), uint64(0)
	for origin := range who {
		count := uint64(most)
		if who[origin] {
			told, there := c.load(c.target, c.partAt(origin))
			if !there {
				return
			}
			low, count = low+told, told
		}
		high += count
	}
	first, there := c.load(c.target, c.first)
	second, too := c.load(c.target, c.second)
	if there && too && (second < low || first > high || first != second && first != second+1) {
		_ = c.broken("rank %d was changed to %d and %d under its lock, want %d to %d, of %v", c.target, first, second, low, high, who)
	}
}
