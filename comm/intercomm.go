package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// An Intercomm connects two groups of processes without a common member: the local group, which
// includes this process, and the remote group, which receives the messages of this process (MPI
// 7.6). Calls are collective over both groups, and failures and revocations concern both: GetFailed
// returns members of both (R19), a revocation reaches both. Failures of either group that are not
// acknowledged interrupt receives from Any. Ranks in errors are ranks of the remote group. A
// process of the other world that has left through Finalize counts as failed, except in collectives
// in which the process took part: slower members complete those. Worlds that end independently call
// Disconnect first.
type Intercomm struct {
	c *Comm // the union of both groups, with a side
}

// newIntercomm makes an intercommunicator of a communicator that is divided into two groups. All
// members pass the same.
func newIntercomm(union *Comm, groupA, groupB []int) *Intercomm {
	s := &side{local: groupA, remote: groupB, ranks: make([]int, union.Size())}
	if !slices.Contains(groupA, union.Rank()) {
		s.local, s.remote, s.second = groupB, groupA, true
	}
	s.me = slices.Index(s.local, union.Rank())
	for i := range s.ranks {
		s.ranks[i] = None
	}
	for rank, inner := range s.remote {
		s.ranks[inner] = rank
	}
	c := union.child(union.e, union.epoch)
	c.side = s
	return &Intercomm{c: c}
}

// Rank returns this process's rank in the local group.
func (ic *Intercomm) Rank() int { return ic.c.side.me }

// Size returns the size of the local group, dead members included.
func (ic *Intercomm) Size() int { return len(ic.c.side.local) }

// RemoteSize returns the size of the remote group, dead members included.
func (ic *Intercomm) RemoteSize() int { return len(ic.c.side.remote) }

// Group returns the local group in rank order.
func (ic *Intercomm) Group() Group { return ic.c.groupOf(ic.c.side.local) }

// RemoteGroup returns the remote group in rank order.
func (ic *Intercomm) RemoteGroup() Group { return ic.c.groupOf(ic.c.side.remote) }

// To names a rank of the remote group, or None, as the receiver of a message.
func (ic *Intercomm) To(rank int) Dest { return ic.c.To(rank) }

// From names a rank of the remote group, Any of them, or None, as the sender of a
// message. The Source of a Status is a rank of the remote group.
func (ic *Intercomm) From(rank int) Source { return ic.c.From(rank) }

// union returns nil for a nil intercommunicator.
func (ic *Intercomm) union() *Comm {
	if ic == nil {
		return nil
	}
	return ic.c
}

// Merge returns a communicator of both groups, each in its order. If one group passes high and the
// other does not, the group without high comes first. If both pass the same, the group that made
// the intercommunicator comes first. Collective over both groups; it succeeds at every live member
// or at none. Members of one group that pass different values are ErrMismatch at all (MPI 7.6.3).
func (ic *Intercomm) Merge(ctx context.Context, high bool) (*Comm, error) {
	if err := given(ctx, "merge", ic.union()); err != nil {
		return nil, err
	}
	s := ic.c.side
	in := engine.Contribution{Digest: commstate.Side(s.second, high)}
	in.Key = (2*bit(high)+bit(s.second))*ic.c.Size() + s.me
	return ic.c.create(ctx, commstate.Call{Kind: commstate.KindMerge}, in, nil, "merge")
}

// Agree returns at every live member of a group the same flag: the bitwise AND over the members of
// the remote group that contributed (R33). The error, at all members of both groups or at none, is
// as of Comm.Agree, and so is the end of ctx, which abandons only the wait.
func (ic *Intercomm) Agree(ctx context.Context, flag uint64) (uint64, error) {
	const op = "agree"
	if err := given(ctx, op, ic.union()); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, fail(op, ic.c, nil, fmt.Errorf("%w: %w", ErrNotBegun, err))
	}
	// Agree makes one agreement for each group's flag; the other group contributes all ones. Both
	// agreements start before the wait for the first. Otherwise a member that abandoned the wait
	// for the first would keep the others waiting in the second.
	flags := [2]uint64{^uint64(0), ^uint64(0)}
	mine := bit(ic.c.side.second)
	flags[mine] = flag
	var agreements []engine.Handle
	for i := range flags {
		h, err := ic.c.e.StartAgree(&flags[i])
		if err != nil {
			return 0, fail(op, ic.c, nil, err)
		}
		agreements = append(agreements, h)
	}
	switch err := ic.await(ctx, agreements); {
	case err == nil:
		return flags[1-mine], nil
	case errors.Is(err, ulfm.ErrProcFailed):
		return flags[1-mine], failAny(op, ic.c, err)
	default:
		return 0, fail(op, ic.c, nil, err)
	}
}

// await ends both agreements and returns the first error. If ctx ends the wait for an agreement,
// await abandons only that wait.
func (ic *Intercomm) await(ctx context.Context, agreements []engine.Handle) error {
	p := ic.c.w.proc
	var first error
	for _, h := range agreements {
		_, err := p.Wait(ctx, h)
		if err != nil && errors.Is(err, ctx.Err()) {
			err = &ulfm.Error{Ranks: p.Awaited(h), Err: err}
			p.Drop(h)
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Revoke ends the use of the intercommunicator at all members of both groups, as
// Comm.Revoke does (R9-R13).
func (ic *Intercomm) Revoke() error { return ic.c.Revoke() }

// IsRevoked reports whether the intercommunicator is known to be revoked (R15).
func (ic *Intercomm) IsRevoked() bool { return ic.c.IsRevoked() }

// GetFailed returns the members of both groups known here to have failed, in the order
// in which this process learnt of them (R19, R20).
func (ic *Intercomm) GetFailed() Group { return ic.c.GetFailed() }

// AckFailed acknowledges the first n failures of GetFailed and returns how many are
// acknowledged in total, as Comm.AckFailed does (R21). n is at most the size of both
// groups together.
func (ic *Intercomm) AckFailed(n int) (acked int, err error) { return ic.c.AckFailed(n) }

// Shrink returns an intercommunicator of the live members of both groups, each on its side and in
// its order. Shrink works on a revoked intercommunicator and returns no failure error (R38-R44). If
// a group has no living member, all get ErrUnsupported, because only the local group remains.
func (ic *Intercomm) Shrink(ctx context.Context) (*Intercomm, error) {
	if err := given(ctx, "shrink", ic.union()); err != nil {
		return nil, err
	}
	union, err := ic.c.Shrink(ctx)
	if err != nil {
		return nil, err
	}
	first, second := survivors(union, ic.Group()), survivors(union, ic.RemoteGroup())
	if len(first) == 0 || len(second) == 0 {
		_ = union.Free() // union is new and has no other user
		return nil, fail("shrink", ic.c, nil, fmt.Errorf("%w: one of the groups has no living member", ErrUnsupported))
	}
	if ic.c.side.second {
		first, second = second, first
	}
	return newIntercomm(union, first, second), nil
}

// survivors returns the ranks in c of the members of g, in g's order.
func survivors(c *Comm, g Group) []int {
	var ranks []int
	for _, proc := range g.procs {
		if r := c.e.RankOfNumber(proc); r >= 0 {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// Free releases the intercommunicator at this process, as Comm.Free does (R58).
func (ic *Intercomm) Free() error { return ic.c.Free() }

// Disconnect frees the intercommunicator at all members of both groups together, as Comm.Disconnect
// does. Afterwards the two worlds end independently. Without Disconnect, a process that leaves
// through Finalize counts as failed in the next operation of the other world.
func (ic *Intercomm) Disconnect(ctx context.Context) error {
	if err := given(ctx, "disconnect", ic.union()); err != nil {
		return err
	}
	return ic.c.Disconnect(ctx)
}
