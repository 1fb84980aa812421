package engine

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/ulfm"
)

// A Claim is a message that a matched probe took. The message has matched: only the claim's own
// receive gets it.
type Claim struct {
	c *Comm
	m *match.Message // nil: received, or dropped with its communicator
}

// Mprobe waits for a message that a receive would match, and takes it.
func (c *Comm) Mprobe(ctx context.Context, from Envelope) (*Claim, Status, error) {
	p := c.p
	for {
		p.mu.Lock()
		p.calls++
		m, st, err := c.next(from)
		if m != nil {
			p.match.Take(m)
			cl := &Claim{c: c, m: m}
			c.claims = append(c.claims, cl)
			p.mu.Unlock()
			return cl, st, nil
		}
		p.mu.Unlock()
		if err == nil {
			err = p.awaitArrival(ctx, c, from)
		}
		if err != nil {
			return nil, st, err
		}
	}
}

// Recv receives the message of a claim, once, as Recv does. When ctx is over before
// the message stays claimed.
func (cl *Claim) Recv(ctx context.Context, elem uint8, buf []byte) (Status, error) {
	c, p := cl.c, cl.c.p
	p.mu.Lock()
	p.calls++
	if err := cl.mayReceive(ctx); err != nil {
		p.mu.Unlock()
		return Status{Proc: Any, Tag: Any}, err
	}
	m := cl.m
	cl.m = nil
	c.claims = slices.DeleteFunc(c.claims, func(x *Claim) bool { return x == cl })
	r := p.newRequest(recvRequest, c, "mrecv")
	r.peer, r.elem, r.buf, r.wild, r.blocking = m.Src, elem, buf, false, true
	r.Recv.Ctx, r.Recv.Src, r.Recv.Tag = m.Ctx, m.Src, m.Tag
	r.status = Status{Proc: m.Src, Tag: m.Tag}
	p.deliverKept(r, m)
	p.mu.Unlock()
	return p.finishRecv(ctx, r)
}

// mayReceive is asked with mu held. That the sender is dead matters only to a message
// of which no more than the announcement has come.
func (cl *Claim) mayReceive(ctx context.Context) error {
	if err := cl.c.alive(); err != nil {
		return err
	}
	cl.c.p.gone.read()
	switch {
	case cl.c.p.fenced.Load():
		return ErrFenced
	case ctx.Err() != nil:
		return ctx.Err()
	case cl.c.revoked:
		return ulfm.ErrRevoked
	case cl.m == nil:
		return ErrInactive
	}
	return nil
}

// dropClaims gives up the messages that were claimed and not received, as if they waited in the
// queues: their senders must learn of it.
func (c *Comm) dropClaims() {
	for _, cl := range c.claims {
		c.p.dropped(cl.m)
		c.p.match.Recycle(cl.m)
		cl.m = nil
	}
	c.claims = nil
}
