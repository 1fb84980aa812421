package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/ulfm"
)

// Free gives c up: local, on any communicator. Receives that nothing has matched end with ErrFreed.
// All other operations under way run to their end (MPI 7.4.3): sends, receives that have matched,
// collectives. Then a closing agreement in the background forgets c everywhere, once all members
// have freed it.
func (c *Comm) Free() error {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := mayFree(c); err != nil {
		return err
	}
	p.giveUp(c)
	p.links.pushOn()
	return nil
}

// mayFree returns the reason for which the program cannot free c.
func mayFree(c *Comm) error {
	err := c.alive()
	if err == nil && c == c.p.world {
		err = fmt.Errorf("%w: the world is ended by Finalize", ErrUnsupported)
	}
	return err
}

// SucceedWorld has c take the place of the world: Finalize ends c, and the former world is freed. A
// world that is never freed refers to its dead for ever, and no other process can have their slots:
//
//	0, 1, 2   1 dies; 3 replaces it in the last free slot; c is 0, 3, 2
//	all       begin to use c, free all communicators of 1, and succeed: the world closes, all let go of 1
//	0, 3, 2   2 dies; a process can have the slot of 1, to which nothing refers, under any name
//
// All members of c call it before any of them is in Finalize, and none of them needs the former
// world any more. The former world closes as any other freed communicator: a member reads all that
// is left to read there before (control.lastPoll).
func SucceedWorld(c *Comm) error {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := c.alive(); err != nil || c == p.world {
		return err
	}
	if p.ending.call != nil {
		return fmt.Errorf("%w: Finalize has begun", ErrUnsupported)
	}
	former := p.world
	p.world = c
	p.rules.step(control.Succeed{Comm: c.group.Index})
	p.giveUp(former)
	p.links.pushOn()
	return nil
}

// Disconnect frees c at all its members together. It returns once each live member has called it,
// and nothing is under way on c at any of them. The error is ulfm.ErrProcFailed, at all of them or
// at none, if a member has died. freed is false if c is still there: with the errors of alive,
// ErrNotBegun, and commstate.ErrMismatch. The end of ctx ends the wait alone: c is freed here.
//
// Disconnect takes two agreements. The closing one cannot report deaths, because a member may learn
// of its end from a member that has forgotten its value. An agreement on the deaths therefore
// precedes it. A member contributes to that one when nothing is under way here. If it contributed
// at once, the agreement could overtake a message:
//
//	0                          1
//	sends, calls Disconnect    waits in a receive, calls Disconnect
//	                           reads the agreement in memory, and frees c
//	                           reads the message, which no communicator receives
func Disconnect(ctx context.Context, c *Comm) (freed bool, err error) {
	p := c.p
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	p.mu.Lock()
	p.calls++
	if err := mayFree(c); err != nil {
		p.mu.Unlock()
		return false, err
	}
	r := p.newCall(c, "disconnect")
	p.parting = append(p.parting, parting{c, r, commstate.KindDisconnect})
	p.progress()
	p.mu.Unlock()
	ended := p.leads.await(ctx, &r.own)
	p.mu.Lock()
	if ended != nil {
		ended = &ulfm.Error{Ranks: p.waitsFor(r), Err: ended}
		contributeNow(p, r)
		p.detach(r)
		giveUpFor(c, nil)
		p.links.pushOn()
		p.mu.Unlock()
		return true, ended
	}
	err = r.err
	p.free(r)
	if err != nil && !errors.Is(err, ulfm.ErrProcFailed) {
		p.mu.Unlock()
		return false, err
	}
	if fault := c.alive(); fault != nil {
		p.mu.Unlock()
		return false, fault
	}
	r = p.newCall(c, "disconnect")
	giveUpFor(c, r)
	p.links.pushOn()
	p.mu.Unlock()
	ended = p.leads.await(ctx, &r.own)
	p.mu.Lock()
	p.detach(r)
	p.mu.Unlock()
	return true, cmp.Or(ended, err)
}

// contributeNow has r contribute although something is under way here.
func contributeNow(p *Proc, r *Request) {
	for i, leaving := range p.parting {
		if leaving.r == r {
			p.parting = slices.Delete(p.parting, i, i+1)
			p.proposeFor(r, commstate.Call{Kind: leaving.kind}, Contribution{})
			return
		}
	}
}

// giveUp frees a communicator, now or as soon as nothing is under way on it.
func (p *Proc) giveUp(c *Comm) { giveUpFor(c, nil) }

// giveUpFor is giveUp; r is the request of the closing agreement if the caller waits for it, else
// nil.
func giveUpFor(c *Comm, r *Request) {
	p := c.p
	c.freed = true
	p.match.Revoke(dataContext(c.group.Index, PointToPoint), func(m *matchRecv) { p.complete(p.slots[m.Slot], ErrFreed) }, p.dropped)
	c.dropClaims()
	p.checkProbes()
	p.parting = append(p.parting, parting{c, r, commstate.KindClose})
	p.closeParting()
}

// parting is a communicator for which this process contributes to an agreement as soon as nothing
// is under way on it.
type parting struct {
	c    *Comm
	r    *Request       // of the agreement, if the caller waits for it, else nil
	kind commstate.Kind // KindDisconnect: the agreement that precedes the closing one; KindClose
}

// closeParting contributes for the communicators on which nothing is under way any more. The result
// is true if there were any.
func (p *Proc) closeParting() bool {
	did := false
	for i := len(p.parting) - 1; i >= 0; i-- {
		leaving := p.parting[i]
		c, r := leaving.c, leaving.r
		if isUnderWay(c) && (leaving.kind == commstate.KindClose || c.gone.IsWhole() || !onlyPending(c)) {
			continue
		}
		did = true
		p.parting = slices.Delete(p.parting, i, i+1)
		if leaving.kind == commstate.KindClose {
			p.endComm(c, ErrFreed)
		}
		if r != nil {
			p.proposeFor(r, commstate.Call{Kind: leaving.kind}, Contribution{})
			continue
		}
		r = p.propose(c, commstate.Call{Kind: leaving.kind}, Contribution{}, "free")
		r.detached = true
		if r.done() {
			p.free(r)
		}
	}
	return did
}

// onlyPending reports whether receives from Any that a death has interrupted are all that is under
// way on c.
func onlyPending(c *Comm) bool {
	for _, r := range c.p.slots {
		if r.active() && r.comm == c && r.kind != callRequest && !r.pending() {
			return false
		}
	}
	return true
}

// isUnderWay reports whether messages or collectives are under way on c.
func isUnderWay(c *Comm) bool {
	must.That(!must.Costly || c.underWay == countUnderWay(c), "%d requests counted on %s", c.underWay, c.Name())
	return c.underWay > 0
}

// countUnderWay counts the requests that isUnderWay reports.
func countUnderWay(c *Comm) (n int) {
	for _, r := range c.p.slots {
		if r.active() && r.comm == c && r.kind != callRequest {
			n++
		}
	}
	return n
}
