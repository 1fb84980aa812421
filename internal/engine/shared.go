package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/shm/nodecoll"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/ulfm"
)

// A Differs is the error of a collective in which a member made another call.
type Differs struct {
	Rank int
	What uint64 // the code of that member's call
}

// Error implements error.
func (d *Differs) Error() string { return fmt.Sprintf("rank %d made another call", d.Rank) }

// Shared reports whether collectives of c use shared memory: the same at all members.
func (c *Comm) Shared() bool { return c.shared && c.nodes == nil }

// Direct reports whether large messages between the members are copied straight from memory to
// memory, as long as the kernel has not refused that in a collective: the same at all members.
func (c *Comm) Direct() bool {
	return c.nodes == nil && c.p.port != nil && c.p.port.Processes() && !c.refused.Load()
}

// Crowded reports whether ranks outnumber cores: the same at all members.
func (c *Comm) Crowded() bool { return !c.p.cfg.Mutual }

// ErrRefused is the error of a collective in shared memory, at all members, in which the
// kernel did not let a member copy from another: destinations are undefined.
var ErrRefused = errors.New("the kernel does not let processes copy from each other")

// generationBits bounds the collectives of one communicator: 2^36.
const generationBits = 36

// collectives returns the machine of c's collectives. The caller holds mu.
func (c *Comm) collectives() *nodecoll.Group {
	if c.coll != nil {
		return c.coll
	}
	p := c.p
	cfg := nodecoll.Config{N: c.Size(), Me: c.Rank(), Mutual: p.cfg.Mutual}
	cfg.Lines = p.port.Block(c.group.Procs[0], c.group.Indices[0], segment.CollectiveLines)
	for range c.group.Procs {
		// By the index of the first member: its block has the lines.
		cfg.Base = append(cfg.Base, uint64(c.group.Indices[0]+1)<<generationBits)
	}
	cfg.Data = func(member int) segment.Region {
		return p.port.Block(c.group.Procs[member], c.group.Indices[member], segment.DataPart)
	}
	cfg.Pull = func(member int, addr uint64, dst []byte) bool {
		return p.port.ReadFrom(c.group.Procs[member], dst, addr) == nil
	}
	c.coll = nodecoll.New(cfg)
	return c.coll
}

// RunShared runs a collective in shared memory. The function start receives code and begins the
// collective; start must not call anything else. Errors: those of entry, ulfm.ErrProcFailed or
// ulfm.ErrRevoked inside of it, *Differs, ErrRefused, and that of ctx; then the operation is still
// open, and the caller revokes c.
func (c *Comm) RunShared(ctx context.Context, what string, code uint64, start func(g *nodecoll.Group, code uint64)) error {
	return c.runShared(ctx, what, true, code, start)
}

// runShared is RunShared; count is true if this is a collective of its own, not the beginning of
// one by messages.
func (c *Comm) runShared(ctx context.Context, what string, count bool, code uint64, start func(g *nodecoll.Group, code uint64)) error {
	p := c.p
	p.mu.Lock()
	p.called()
	moved, to, err := false, 0, c.turns.Take(ctx, &p.mu)
	if err == nil {
		moved, to, err = c.share(ctx, what, count, code, start)
		if err == nil && count && c.coll.Refused() {
			c.refused.Store(true)
			err = ErrRefused
		}
		c.turns.Give()
	}
	p.mu.Unlock()
	if moved {
		c.notify(to)
	}
	return err
}

// share is runShared for a caller that has the turn and holds mu, and does again afterwards. If
// moved is true, the caller is to notify a member, or all, after it has released mu.
func (c *Comm) share(ctx context.Context, what string, count bool, code uint64, start func(g *nodecoll.Group, code uint64)) (moved bool, to int, err error) {
	p := c.p
	if err = c.mayShare(); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return false, 0, err
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.shares")
	}
	if count {
		c.calls.Next()
	}
	g := c.collectives()
	start(g, code)
	if g.Done() {
		return g.Moved(), g.Audience(), nil
	}
	c.announce(g)
	if p.leads.take(caller) {
		done := c.advanceWhile(ctx, g)
		p.leads.leaveLocked()
		if done {
			return false, 0, nil
		}
	}
	r := p.newRequest(collectiveRequest, c, what)
	r.peer = Any
	c.collective = r
	p.memory.open(c)
	switch err := c.alive(); { // not only before: it may have been fenced meanwhile
	case err != nil:
		p.complete(r, err)
	case !c.quiet() && !goesOn(c, c.calls.Last()):
		if err := c.mayEnter(ulfm.OpCollective, -1); err != nil {
			p.fail(r, err)
		}
	}
	p.mu.Unlock()
	err = p.leads.await(ctx, &r.own)
	p.mu.Lock()
	if err != nil {
		r.detached = true
		if r.done() {
			p.free(r)
		}
		return false, 0, err
	}
	err = r.err
	p.free(r)
	return false, 0, err
}

// mayShare reports whether a collective may start. The caller holds mu.
func (c *Comm) mayShare() error {
	if c.collective != nil { // its call has given up the wait, and revokes c
		return ulfm.ErrRevoked
	}
	if c.quiet() {
		return nil
	}
	c.p.gone.read()
	if err := c.alive(); err != nil {
		return err
	}
	return c.mayEnter(ulfm.OpCollective, -1)
}

// advanceWhile leads and advances as long as nothing else asks for attention.
func (c *Comm) advanceWhile(ctx context.Context, g *nodecoll.Group) (done bool) {
	for c.quiet() {
		word, stale := g.Awaits()
		if word == nil {
			if _, _, bad := g.Mismatch(); bad {
				return false
			}
		} else if !c.p.leads.watchWord(ctx, word, stale) {
			return false
		}
		if c.quiet() && c.advance(g) {
			return true
		}
	}
	return false
}

// advance advances an operation and wakes the members that may wait for its results.
func (c *Comm) advance(g *nodecoll.Group) (done bool) {
	done = g.Advance()
	c.announce(g)
	return done
}

// announce wakes the members that may wait for the published results of an operation.
func (c *Comm) announce(g *nodecoll.Group) {
	if g.Moved() {
		c.notify(g.Audience())
	}
}

// notify wakes a member, or all: nodecoll.All, for which something has been published. The
// caller need not hold mu.
func (c *Comm) notify(to int) {
	if !c.p.leads.unfenced {
		publish.Fence()
	}
	if to >= 0 {
		c.p.node.Notify(c.group.Procs[to], park.Caller|park.Background)
	} else {
		c.p.notifyMembers(c)
	}
}

// advanceRequest continues with the open collective of c, and ends its request when that is
// complete, or cannot be, and reports whether anything happened.
func (c *Comm) advanceRequest() bool {
	r, g := c.collective, c.coll
	word, stale := g.Awaits()
	moved := word == nil || segment.Load64(word) != stale
	if moved && c.advance(g) {
		c.p.complete(r, nil)
		return true
	}
	if rank, what, bad := g.Mismatch(); bad {
		g.Abandon()
		c.p.complete(r, &Differs{Rank: rank, What: what})
		return true
	}
	if awaitsParted(c) {
		c.endCollective(ulfm.ErrProcFailed)
		return true
	}
	return moved
}

// awaitedInMemory returns the members that have not published something that the open collective of
// c needs; nil: all have, and c waits for the result of the last one. The caller holds mu.
func awaitedInMemory(c *Comm) (ranks []int) {
	for rank := range c.Size() {
		if rank != c.Rank() && c.coll.WaitsFor(rank) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// endCollective ends the open collective of c because of a failure: with success if
// this member's part is complete.
func (c *Comm) endCollective(err error) {
	if c.advance(c.coll) {
		err = nil
	}
	c.p.complete(c.collective, err)
}

// collectiveMoved is asked before this process sleeps.
func (c *Comm) collectiveMoved() bool {
	word, stale := c.coll.Awaits()
	if word == nil || segment.Load64(word) != stale {
		return true
	}
	_, _, bad := c.coll.Mismatch()
	return bad
}

// BeginMessages records that this member has come to a collective that uses messages. Members that
// are in a collective in memory detect that, and so does this member if it waits. Unless there is
// an error EndMessages follows.
func (c *Comm) BeginMessages(ctx context.Context, what string, code uint64) error {
	p := c.p
	p.mu.Lock()
	p.called()
	moved, to, err := false, 0, c.turns.Take(ctx, &p.mu)
	if err == nil {
		moved, to, err = c.share(ctx, what, false, code, noteQuietly)
		if err == nil {
			c.messages = true
			p.memory.open(c)
		} else {
			c.turns.Give()
		}
	}
	p.mu.Unlock()
	if moved {
		c.notify(to)
	}
	return err
}

func noteQuietly(g *nodecoll.Group, code uint64) { g.Note(code, false) }

// NoteShared publishes to members in collectives in memory the call that this one has come to;
// sleeping members are to check at once.
func (c *Comm) NoteShared(ctx context.Context, what string, code uint64) error {
	return c.runShared(ctx, what, false, code, func(g *nodecoll.Group, code uint64) { g.Note(code, true) })
}

// EndMessages ends the collective that BeginMessages began.
func (c *Comm) EndMessages() {
	p := c.p
	p.mu.Lock()
	c.messages, c.apart = false, nil
	c.turns.Give()
	p.mu.Unlock()
}

// partsWays reports whether another member is in another collective. Each member calls partsWays
// before it sleeps.
func (c *Comm) partsWays() bool {
	if !c.messages || c.apart != nil {
		return c.apart != nil
	}
	rank, what, bad := c.coll.Apart()
	if bad {
		c.apart = &Differs{Rank: rank, What: what}
	}
	return bad
}

// partWays ends the receives of a collective in which another member is not. Sends are withdrawn by
// their waiters: the receiver may have learned of them.
func (my *memory) partWays(c *Comm) bool {
	if c.apart == nil {
		return false
	}
	did := false
	for _, r := range my.p.slots {
		if r.active() && r.comm == c && r.kind == recvRequest && r.class() == Collective && my.p.match.Withdraw(&r.Recv) {
			my.p.complete(r, c.apart)
			did = true
		}
	}
	return did
}
