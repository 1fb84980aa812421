package comm

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// Revoke ends the use of the communicator at all members: every operation on c, pending or later,
// returns ErrRevoked at each of them. Exceptions are Agree, AgreeFailed, Shrink, their nonblocking
// forms, Replace, Disconnect, Finalize and local operations. Revoke is not collective, and revoking
// twice has no further effect (R9-R13).
func (c *Comm) Revoke() error { return fail("revoke", c, nil, c.e.Revoke()) }

// SetUniform sets whether each member that learns of a failure of a member revokes c. Every
// operation of every member then ends with an error, ErrProcFailed at the members that needed the
// dead process and ErrRevoked at the others, and no rank can miss the failure (C9). Agree, Shrink
// and local calls still work, as on every revoked communicator. If a failure is known already,
// SetUniform revokes c at once.
//
// SetUniform is local and must be called at all members before c is used; a member without the call
// still learns of failures by the revocation of the others. Communicators made from c, by Dup or
// Shrink for example, begin with the mode of c; Config.Uniform is the mode of the world.
func (c *Comm) SetUniform(on bool) {
	c.uniform.Store(on)
	c.e.SetUniform(on)
}

// IsRevoked reports whether the communicator is known to be revoked (R15).
func (c *Comm) IsRevoked() bool { return c.e.IsRevoked() }

// GetFailed returns the members known here to have failed, in the order in which this process
// learnt of them: each result is a prefix of the later ones (R20). A Group lists processes;
// FailedRanks returns the same members by their ranks in c.
func (c *Comm) GetFailed() Group { return c.groupOf(c.e.GetFailed()) }

// FailedRanks returns the ranks in c of the members of GetFailed, in the same order. Errors on c
// name these ranks.
func (c *Comm) FailedRanks() []int { return c.outerRanks(c.e.GetFailed()) }

func (c *Comm) groupOf(ranks []int) Group {
	g := Group{me: c.w.proc.Number()}
	for _, r := range ranks {
		g.procs = append(g.procs, c.e.Numbers()[r])
	}
	return g
}

// AckFailed acknowledges the first n failures of GetFailed, and returns how many are acknowledged
// in total. Once all known failures are acknowledged, receives from Any continue to wait;
// acknowledged failures no longer make Agree return an error (R21, R22). A message may die with its
// sender: the receive that matches such a message returns ErrProcFailed (R46). Once all failures
// are acknowledged, receives from Any skip such messages. n = 0 only queries the number. If fewer
// than n failures are known, AckFailed acknowledges all of them: n = Size() always does. An n below
// 0 or above Size() is ErrArgument.
func (c *Comm) AckFailed(n int) (acked int, err error) {
	acked, err = c.e.Ack(n)
	if errors.Is(err, ErrLength) {
		err = fmt.Errorf("%w: acknowledge %d failures: want 0 to %d, the number of members", ErrArgument, n, c.Size())
	}
	return acked, fail("ack_failed", c, nil, err)
}

// FailureAck acknowledges all known failures: the older spelling (R25).
func (c *Comm) FailureAck() error {
	_, err := c.AckFailed(c.Size())
	return err
}

// FailureGetAcked returns the acknowledged failures (R25).
func (c *Comm) FailureGetAcked() Group { return c.groupOf(c.e.Acked()) }

// Agree returns at every live member the same flag: the bitwise AND over the members that
// contributed. The error Is ErrProcFailed, at all members or at none, if a member failed and not
// all members had acknowledged that failure before; the flag is valid nevertheless (R27-R32). Agree
// works on a revoked communicator.
//
// When ctx ends, Agree abandons only the wait: the contribution stands, and the error names the
// ranks that the call waited for. If ctx is over at the call, this member contributes nothing, and
// the error Is ErrNotBegun: the others wait for another call of this member. The same holds for
// AgreeFailed, Shrink and the calls that create a communicator.
func (c *Comm) Agree(ctx context.Context, flag uint64) (uint64, error) {
	if err := given(ctx, "agree", c); err != nil {
		return 0, err
	}
	out, _, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindAgree}, engine.Contribution{Flag: flag}, "agree")
	return out.Flag, fail("agree", c, out.Dead, err)
}

// AllOK ends a stretch of work in which any member may have met an error: each live member calls
// AllOK, with its own error or nil. A member with an error revokes c, so that no member waits in
// the stretch for a member that has left the stretch. Then all agree: the result is true, at all
// members or at none, if every member that contributed passed nil. The error is that of Agree:
// ErrProcFailed, at all or at none, if a member has died and not all had acknowledged that death.
//
//	ok, err := c.AllOK(ctx, step(ctx, c))
//	if !ok || err != nil { // the same at all live members
//		c, err = c.Shrink(ctx)
//	}
//
// A program must not end a stretch by AllOK at some members and by Finalize, or by nothing, at
// others: with Finalize, all get ErrMismatch; with nothing, the others wait.
func (c *Comm) AllOK(ctx context.Context, err error) (bool, error) {
	if err := given(ctx, "all_ok", c); err != nil {
		return false, err
	}
	const fine, bad = 1, 0
	mine := uint64(fine)
	if err != nil {
		mine = bad
		if err := c.Revoke(); err != nil {
			return false, err
		}
	}
	all, err := c.Agree(ctx, mine)
	return all == fine, err
}

// Iagree starts an agreement, with the present value of *flag as the contribution of this member.
// Once the request is over *flag is the result, also with ErrProcFailed. Errors are those of Agree,
// and ErrBuffer for a nil flag. Several may be under way; they match in the order of the calls
// (R35).
func (c *Comm) Iagree(flag *uint64) Request {
	if flag == nil {
		return notStarted(fail("iagree", c, nil, fmt.Errorf("%w: no flag", ErrBuffer)))
	}
	h, err := c.e.StartAgree(flag)
	if err != nil {
		return notStarted(fail("iagree", c, nil, err))
	}
	return Request{c: c, h: h, peer: Any, call: iagreeCall}
}

// AgreeFailed returns at every live member the same group, in rank order: the failures that any of
// them knew at its call, and those that the agreement found. A process that dies during the call
// may be missing. AgreeFailed works on a revoked communicator. When ctx ends, the errors are as of
// Agree.
func (c *Comm) AgreeFailed(ctx context.Context) (Group, error) {
	if err := given(ctx, "agree_failed", c); err != nil {
		return Group{}, err
	}
	out, _, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindAgreeFailed}, engine.Contribution{}, "agree_failed")
	return c.groupOf(out.Dead), fail("agree_failed", c, nil, err)
}

// Shrink returns a communicator of the live members in their old order. Shrink works on a revoked
// communicator and returns no failure error: a process that dies during the call may still be a
// member, and its death is then detected on the new communicator (R38-R44).
func (c *Comm) Shrink(ctx context.Context) (*Comm, error) {
	if err := given(ctx, "shrink", c); err != nil {
		return nil, err
	}
	_, made, err := c.e.Call(ctx, commstate.Call{Kind: commstate.KindShrink}, engine.Contribution{}, "shrink")
	if err != nil {
		return nil, fail("shrink", c, nil, err)
	}
	return shrunk(c, made), nil
}

func shrunk(c *Comm, made *engine.Comm) *Comm {
	starting{c}.noteDropOfTheDead(made)
	return c.child(made, c.epoch+1)
}
