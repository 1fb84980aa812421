package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/comm"
	"github.com/goulfm/goulfm/internal/testing/spectable"
)

// agreed returns the calls that end in an agreement.
func agreed() []Call {
	made := func(c *comm.Comm, err error, size int) error {
		switch {
		case err != nil:
			return errors.Join(err, unless(c == nil))
		case size == 0:
			return unless(c == nil)
		}
		return unless(c != nil && c.Size() == size && !c.IsRevoked())
	}
	flag := func(s *site) uint64 { return 1<<8 | 1<<s.rank }
	// The flag is valid with an error, too (R30).
	and := func(s *site, got uint64, err error) error {
		return errors.Join(err, unless(got == 1<<8))
	}
	return []Call{
		{Name: "Dup", Op: "dup", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Dup(ctx)
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Split", Op: "split", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Split(ctx, s.rank%2, 0)
			return made(c, err, spectable.Ranks/2)
		}},
		{Name: "Split, undefined", Op: "split", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Split(ctx, comm.Undefined, 0)
			return made(c, err, 0)
		}},
		{Name: "SplitNode", Op: "split_node", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.SplitNode(ctx)
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Create", Op: "create", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Create(ctx, s.c.Group())
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Create, empty", Op: "create", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Create(ctx, comm.Group{})
			return made(c, err, 0)
		}},
		{Name: "CreateGroup", Op: "create_group", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.CreateGroup(ctx, s.c.Group(), 1)
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Cart", Op: "cart", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			dims, err := comm.DimsCreate(spectable.Ranks, []int{0, 0})
			if err != nil {
				return errWrong
			}
			c, err := s.c.Cart(ctx, dims, []bool{true, false}, false)
			if err == nil {
				err = knowsItsPlace(c, s.rank)
			}
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Graph", Op: "graph", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Graph(ctx, make([][]int, spectable.Ranks))
			return made(c, err, spectable.Ranks)
		}},
		{Name: "DistGraph", Op: "dist_graph", Class: spectable.Creation, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.DistGraph(ctx, []int{s.rank}, []int{s.rank})
			return made(c, err, spectable.Ranks)
		}},
		{Name: "Agree", Op: "agree", Class: spectable.Agreement, Do: func(ctx context.Context, s *site) error {
			got, err := s.c.Agree(ctx, flag(s))
			return errors.Join(and(s, got, err), knowsAll(s, err))
		}},
		{Name: "Iagree", Op: "iagree", Class: spectable.Agreement, Do: func(ctx context.Context, s *site) error {
			f := flag(s)
			_, err := s.c.Iagree(&f).Wait(ctx)
			return errors.Join(and(s, f, err), knowsAll(s, err))
		}},
		{Name: "AllOK", Op: "agree", Class: spectable.Agreement, Do: func(ctx context.Context, s *site) error {
			ok, err := s.c.AllOK(ctx, nil)
			return errors.Join(err, knowsAll(s, err), unless(ok))
		}},
		{Name: "AgreeFailed", Op: "agree_failed", Class: spectable.AgreedFailures, Do: func(ctx context.Context, s *site) error {
			g, err := s.c.AgreeFailed(ctx)
			return errors.Join(err, unless(fmt.Sprint(g.Processes()) == fmt.Sprint(append([]int{}, s.dead...))))
		}},
		{Name: "Shrink", Op: "shrink", Class: spectable.Shrinking, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Shrink(ctx)
			if err == nil && (fmt.Sprint(c.Group().Processes()) != fmt.Sprint(s.living) || c.GetFailed().Size() > 0) { // R38, R39, R44
				err = errWrong
			}
			return made(c, err, len(s.living))
		}},
		{Name: "Ishrink", Op: "ishrink", Class: spectable.Shrinking, Do: func(ctx context.Context, s *site) error {
			c, err := s.c.Ishrink().Wait(ctx)
			if err == nil && fmt.Sprint(c.Group().Processes()) != fmt.Sprint(s.living) { // R38, R39
				err = errWrong
			}
			return made(c, err, len(s.living))
		}},
		{Name: "IagreeFailed", Op: "iagree_failed", Class: spectable.AgreedFailures, Do: func(ctx context.Context, s *site) error {
			g, err := throughRequest(ctx, s.c.IagreeFailed())
			return errors.Join(err, unless(fmt.Sprint(g.Processes()) == fmt.Sprint(append([]int{}, s.dead...))))
		}},
		{Name: "Finalize", Op: "finalize", Class: spectable.Ending, World: true, Do: func(ctx context.Context, s *site) error { return s.c.Finalize(ctx) }},
	}
}

// knowsItsPlace checks the local calls of a grid at a rank.
func knowsItsPlace(c *comm.Comm, rank int) error {
	at, err := c.CartCoords(rank)
	back, err2 := c.CartRank(at)
	_, beyond, err3 := c.CartShift(1, spectable.Ranks)
	return unless(errors.Join(err, err2, err3) == nil && back == rank && beyond == comm.None)
}

// knowsAll checks R31: a rank that has the error of an agreement knows every rank that did not
// contribute.
func knowsAll(s *site, err error) error {
	return unless(err == nil || s.c.GetFailed().Size() == len(s.dead))
}

func local() []Call {
	do := func(name, op string, f func(s *site) error) Call {
		return Call{Name: name, Op: op, Class: spectable.Local, Do: func(_ context.Context, s *site) error { return f(s) }}
	}
	return []Call{
		do("Rank", "", func(s *site) error { return unless(s.c.Rank() == s.rank) }),
		do("Size", "", func(s *site) error { return unless(s.c.Size() == spectable.Ranks) }),
		do("Group", "", func(s *site) error { return unless(s.c.Group().Size() == spectable.Ranks) }),
		do("Neighbors", "", func(s *site) error {
			in, out := s.c.Neighbors()
			return unless(in == nil && out == nil)
		}),
		do("Epoch", "", func(s *site) error { return unless(s.c.Epoch() == 0) }),
		do("Spawned", "", func(s *site) error { return unless(!s.c.Spawned()) }),
		do("Mark", "", func(s *site) error { s.c.Mark("cell", 1); return nil }),
		do("IsRevoked", "", func(s *site) error { s.c.IsRevoked(); return nil }),
		do("GetFailed", "", func(s *site) error { return unless(s.c.GetFailed().Size() <= len(s.dead)) }),
		do("Name", "", func(s *site) error { return unless(s.c.Name() != "") }),
		do("SetName", "", func(s *site) error {
			name := s.c.Name()
			s.c.SetName("cell")
			right := s.c.Name() == "cell"
			s.c.SetName("")
			return unless(right && s.c.Name() == name)
		}),
		do("FailedRanks", "", func(s *site) error { return unless(len(s.c.FailedRanks()) <= len(s.dead)) }),
		do("RankOf", "", func(s *site) error { return unless(s.c.RankOf(s.c.Group().Processes()[s.rank]) == s.rank) }),
		do("RanksOf", "", func(s *site) error {
			return unless(slices.Equal(s.c.RanksOf(s.c.Group()), []int{0, 1, 2, 3}))
		}),
		do("AckFailed, ask", "ack_failed", func(s *site) error {
			_, err := s.c.AckFailed(0)
			return err
		}),
		do("AckFailed, all", "ack_failed", func(s *site) error {
			known := s.c.GetFailed().Size()
			acked, err := s.c.AckFailed(s.c.Size())
			return errors.Join(err, unless(known <= acked && acked <= s.c.GetFailed().Size()))
		}),
		do("FailureAck", "ack_failed", func(s *site) error { return s.c.FailureAck() }),
		do("FailureGetAcked", "", func(s *site) error { return unless(s.c.FailureGetAcked().Size() <= len(s.dead)) }),
		do("SetErrorHandler", "", func(s *site) error { s.c.SetErrorHandler(comm.ErrorsReturn); return nil }),
		do("SetUniform", "", func(s *site) error { s.c.SetUniform(false); return nil }),
		do("Revoke", "revoke", func(s *site) error { return errors.Join(s.c.Revoke(), unless(s.c.IsRevoked())) }),
		do("Request.Cancel", "", func(s *site) error {
			r := comm.Irecv(s.c.From(spectable.Revoker), []int{0})
			// No rank sends to this receive, so Cancel succeeds, unless the receive is over
			// already.
			if !r.Cancel() {
				if _, over, _ := r.Test(); !over {
					return errWrong
				}
			}
			return nil
		}),
		do("Request.Free", "", func(s *site) error { return comm.Isend(s.c.To(spectable.Peer), []int{0}).Free() }),
		do("Free", "free", func(s *site) error { return s.c.Free() }),
	}
}

// throughRequest waits for a call as for one of several requests. Both waits must return the same.
func throughRequest[T any](ctx context.Context, p *comm.Pending[T]) (T, error) {
	_, _, first := comm.WaitAny(ctx, p.Request())
	got, err := p.Wait(ctx)
	return got, errors.Join(err, unless(fmt.Sprint(first) == fmt.Sprint(err)))
}
