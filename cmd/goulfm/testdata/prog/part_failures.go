package main

import (
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// agrees makes three agreements: each rank clears a bit of its own.
func agrees(x *trial) error {
	var failed error
	everybody := uint64(1)<<x.c.Size() - 1
	for range 3 {
		flag, err := x.c.Agree(x.ctx, ^(uint64(1) << x.c.Rank()))
		x.promised("agree: %x %v", flag, errors.Is(err, ulfm.ErrProcFailed))
		if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
			return err
		}
		// Without an error all have contributed; else all but the victim surely have.
		missing := flag & everybody
		if ^flag&^everybody != 0 || missing&(1<<x.c.Rank()) != 0 || missing&(missing-1) != 0 || err == nil && missing != 0 {
			return fmt.Errorf("wrong data: agree gave %x, %w", flag, err)
		}
		if err != nil {
			failed = err
		}
	}
	return failed
}

// shrinks makes two communicators of the live members.
func shrinks(x *trial) error {
	var failed error
	for range 2 {
		s, err := x.c.Shrink(x.ctx)
		if err != nil {
			return err
		}
		x.promised("shrink: %v", s.Group())
		if s.Size() < x.c.Size()-1 || s.Group().Rank() != s.Rank() {
			return fmt.Errorf("wrong data: shrink gave %v", s.Group())
		}
		if err := x.on(s, barriers(1)); err != nil {
			failed = err
		}
		if s.Size() < x.c.Size() && failed == nil {
			failed = fmt.Errorf("one is lost: %w", ulfm.ErrProcFailed)
		}
	}
	return failed
}

// revokes has every member in turn revoke a communicator on which the others wait.
func revokes(x *trial) error {
	for who := range x.c.Size() {
		d, err := x.c.Dup(x.ctx)
		x.created(err)
		if err != nil {
			return err
		}
		if d.Rank() == who {
			if err := d.Revoke(); err != nil {
				return err
			}
		} else {
			_, err := comm.Recv(x.ctx, d.From(who), make([]int, 1))
			if !ulfm.Recoverable(err) {
				return fmt.Errorf("wrong data: receive on a revoked communicator: %w", err)
			}
			if errors.Is(err, ulfm.ErrProcFailed) {
				return errors.Join(err, d.Revoke(), d.Free())
			}
		}
		if err := d.Free(); err != nil {
			return err
		}
	}
	return nil
}

// dups makes communicators, uses them and gives them up.
func dups(times int) func(*trial) error {
	return func(x *trial) error {
		for i := range times {
			d, err := x.c.Dup(x.ctx)
			x.created(err)
			if err != nil {
				return err
			}
			if err := x.on(d, messages(8), allreduces(1+i%3)); err != nil {
				return err
			}
		}
		return nil
	}
}

// firstCollectives are the first ones on a new communicator, and those that go by
// messages.
func firstCollectives(x *trial) error {
	d, err := x.c.Dup(x.ctx)
	x.created(err)
	if err != nil {
		return err
	}
	return x.on(d, bcasts(1), allreduces(1), gathers)
}

// on does something on another communicator, where all members must hear of a
// failure, and gives it up.
func (x *trial) on(c *comm.Comm, what ...func(*trial) error) error {
	y := &trial{ctx: x.ctx, c: c}
	for _, f := range what {
		if err := f(y); err != nil {
			return errors.Join(err, c.Revoke(), c.Free())
		}
	}
	return c.Free()
}
