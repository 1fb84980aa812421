package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/ulfm"
)

// agreementOps have one outcome at all survivors. Operations with agreed set work on revoked
// communicators, and wait for every live member.
var agreementOps = []*operation{
	{name: "agree", weight: 5, run: runAgree, agreed: true, stays: true},
	{name: "agree-failed", weight: 3, run: runAgreeFailed, agreed: true, stays: true},
	{name: "i:agree", weight: 4, run: runIagree, agreed: true, stays: true},
	{name: "i:agree-failed", weight: 2, run: runIagreeFailed, agreed: true, stays: true},
	{name: "short-agree", weight: 3, run: runShortAgree, agreed: true, stays: true},
	{name: "ack-agree", weight: 3, run: runAckAgree, agreed: true, stays: true},
	{name: "shrink", weight: 3, run: runShrink, agreed: true, makes: true, stays: true},
	{name: "i:shrink", weight: 3, run: runIshrink, agreed: true, makes: true, stays: true},
	{name: "same-call", weight: 3, run: runSameCall, agreed: true, stays: true},
	{name: "all-ok", weight: 3, run: runAllOK, agreed: true},
	{name: "ack", weight: 2, run: runAck, stays: true},
	{name: "revoke", weight: 1, run: runRevoke},
}

// presence returns this member's contribution to an agreement: all bits except the member's own.
func (s *step) presence() uint64 { return ^(uint64(1) << s.c.Rank()) }

// agreed checks the result of an agreement: without an error all have contributed; with an error
// this rank has contributed, and only members have.
func (s *step) agreed(flag uint64, err error) error {
	failed := errors.Is(err, ulfm.ErrProcFailed)
	if err != nil && !failed {
		return err
	}
	s.out += fmt.Sprintf("%x %v;", flag, failed)
	given, all := ^flag, uint64(1)<<s.c.Size()-1
	if given&^all != 0 || given>>s.c.Rank()&1 == 0 {
		return s.broken("an agreement of %d members has the contributions %b", s.c.Size(), given)
	}
	if acked, _ := s.c.AckFailed(0); !failed && given != all && acked == 0 {
		return s.broken("an agreement of %d members has the contributions %b and no error", s.c.Size(), given)
	}
	return err
}

func runAgree(s *step) error {
	flag, err := s.c.Agree(s.ctx, s.presence())
	return s.agreed(flag, err)
}

func runAgreeFailed(s *step) error {
	g, err := s.c.AgreeFailed(s.ctx)
	return s.agreedFailed(g, err)
}

func (s *step) agreedFailed(g comm.Group, err error) error {
	if err != nil {
		return err
	}
	dead := g.Processes()
	s.out = fmt.Sprint("dead ", dead)
	for _, p := range dead {
		if p == s.me() || !slices.Contains(s.g.procs, p) {
			return s.broken("agreed that %v are dead, of %v", dead, s.g.procs)
		}
	}
	s.blame(dead)
	return nil
}

// blame logs that processes are reported dead, for the judge.
func (s *step) blame(dead []int) {
	if len(dead) > 0 {
		s.m.log.put(record{What: recNote, Step: s.name, Comm: s.g.name, Class: classFailed, Procs: dead})
	}
}

// runIagree has several agreements under way.
func runIagree(s *step) error {
	flags := make([]uint64, 1+s.rng.IntN(3))
	rs := make([]comm.Request, len(flags))
	for i := range flags {
		flags[i] = s.presence()
		rs[i] = s.c.Iagree(&flags[i])
	}
	s.m.later(s, func(s *step) error {
		var first error
		for i, r := range rs {
			_, err := r.Wait(s.ctx)
			if err := s.agreed(flags[i], err); err != nil && first == nil {
				first = err
			}
		}
		return first
	})
	return nil
}

func runIagreeFailed(s *step) error {
	f := s.c.IagreeFailed()
	s.m.later(s, func(s *step) error {
		g, err := f.Wait(s.ctx)
		return s.agreedFailed(g, err)
	})
	return nil
}

// runShortAgree gives up the wait; its contribution remains.
func runShortAgree(s *step) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.shortly(s.own))
	defer cancel()
	if one(s.own, 2) {
		s.pause()
	}
	flag, err := s.c.Agree(ctx, s.presence())
	switch {
	case errors.Is(err, comm.ErrNotBegun):
		flag, err = s.c.Agree(s.ctx, s.presence())
	case errors.Is(err, context.DeadlineExceeded) && s.ctx.Err() == nil:
		return nil
	}
	return s.agreed(flag, err)
}

// runAckAgree acknowledges and agrees until there is no error: then all have acknowledged the same
// deaths (R36).
func runAckAgree(s *step) error {
	var err error
	for range s.c.Size() + 2 {
		var flag uint64
		if err := s.c.FailureAck(); err != nil {
			return err
		}
		flag, err = s.c.Agree(s.ctx, s.presence())
		if err = s.agreed(flag, err); !errors.Is(err, ulfm.ErrProcFailed) {
			break
		}
	}
	if errors.Is(err, ulfm.ErrProcFailed) {
		return s.broken("%d members, and an agreement still fails by a new death: %v", s.c.Size(), err)
	}
	if err != nil {
		return err
	}
	acked := s.c.FailureGetAcked().Processes()
	slices.Sort(acked)
	s.out += fmt.Sprint("acked ", acked)
	if len(acked) > 0 {
		s.blame(acked)
		return fmt.Errorf("dead: %w", ulfm.ErrProcFailed)
	}
	return nil
}

func runShrink(s *step) error {
	c, err := s.c.Shrink(s.ctx)
	return s.shrunk(c, err)
}

func (s *step) shrunk(c *comm.Comm, err error) error {
	if err != nil {
		return err
	}
	s.made.c, s.made.procs = c, c.Group().Processes()
	s.out = fmt.Sprint(s.made.procs)
	if s.made.procs[c.Rank()] != s.me() {
		return s.broken("shrink gave %v, where this rank is %d", s.made.procs, c.Rank())
	}
	return nil
}

func runIshrink(s *step) error {
	r := s.c.Ishrink()
	s.m.later(s, func(s *step) error {
		c, err := r.Wait(s.ctx)
		return s.shrunk(c, err)
	})
	return nil
}

// runAllOK calls AllOK, like a program at the end of its work. One member may pass an error.
func runAllOK(s *step) error {
	victim, bad := s.rng.IntN(s.c.Size()), one(s.rng, 4)
	var mine error
	if bad && s.c.Rank() == victim || s.m.trouble.Load() {
		mine = errGivenUp
		s.m.log.put(record{What: recRevoke, Step: s.name, Comm: s.g.name})
	}
	ok, err := s.c.AllOK(s.ctx, mine)
	if err != nil && classify(err) != classFailed {
		return err
	}
	s.out = fmt.Sprint(ok, err != nil)
	switch {
	case bad && ok && err == nil && !s.acknowledged(victim):
		return s.broken("all is well, though rank %d had an error", victim)
	case err == nil && !ok:
		return fmt.Errorf("not all are well: %w", errContext)
	}
	return err
}

// acknowledged reports whether the death of a member is acknowledged. AllOK then ignores its error.
func (s *step) acknowledged(rank int) bool {
	return slices.Contains(s.c.FailureGetAcked().Processes(), s.c.Group().Processes()[rank])
}

var errGivenUp = errors.New("something went wrong here")

// runAck acknowledges the known failures, and checks the lists.
func runAck(s *step) error {
	before := s.c.GetFailed().Processes()
	n, err := s.c.AckFailed(s.c.Size())
	if err != nil {
		return err
	}
	after := s.c.GetFailed().Processes()
	acked := s.c.FailureGetAcked().Processes()
	if n < len(before) || len(acked) != n || !slices.Equal(before, after[:min(len(before), len(after))]) || !slices.Equal(acked, after[:min(n, len(after))]) {
		return s.broken("%v known, %d acknowledged, which are %v, then known %v", before, n, acked, after)
	}
	s.blame(acked)
	return nil
}

// runRevoke makes one member revoke the communicator without a failure.
func runRevoke(s *step) error {
	if s.c.Rank() == s.rng.IntN(s.c.Size()) {
		s.pause()
		s.m.revoke(s.g)
		if !s.c.IsRevoked() {
			return s.broken("revoked here, but IsRevoked returns false")
		}
	}
	return runBarrier(s)
}

// runSameCall makes several goroutines of each rank make the same call at once. The results may be
// distributed over the goroutines in any way.
func runSameCall(s *step) error {
	count, kind := 2+s.rng.IntN(2), s.rng.IntN(3)
	outs, errs := make([]string, count), make([]error, count)
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			inner := *s
			inner.out = ""
			switch {
			case kind == 0 || kind == 1 && i%2 == s.c.Rank()%2:
				flag, err := s.c.Agree(s.ctx, s.presence())
				errs[i] = inner.agreed(flag, err)
			case kind == 1:
				flag := s.presence()
				_, err := s.c.Iagree(&flag).Wait(s.ctx)
				errs[i] = inner.agreed(flag, err)
			default:
				g, err := s.c.AgreeFailed(s.ctx)
				errs[i] = inner.agreedFailed(g, err)
			}
			outs[i] = inner.out
		})
	}
	all.Wait()
	slices.Sort(outs)
	s.out = strings.Join(outs, " ")
	return errors.Join(errs...)
}
