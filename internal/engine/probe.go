package engine

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/ulfm"
)

// Probe waits for a message that a receive would match, and leaves it there.
func (c *Comm) Probe(ctx context.Context, from Envelope) (Status, error) {
	for {
		st, ok, err := c.Iprobe(from)
		if ok || err != nil {
			return st, err
		}
		if err := c.p.awaitArrival(ctx, c, from); err != nil {
			return st, err
		}
	}
}

// Iprobe searches for a message that a receive would match.
func (c *Comm) Iprobe(from Envelope) (Status, bool, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	return c.iprobe(from)
}

// iprobe is Iprobe for a caller that holds mu.
func (c *Comm) iprobe(from Envelope) (Status, bool, error) {
	m, st, err := c.next(from)
	return st, m != nil, err
}

// next returns the message that a receive would match, or nil. The caller holds mu.
func (c *Comm) next(from Envelope) (*match.Message, Status, error) {
	p, proc := c.p, c.proc(from.Rank)
	none := Status{Proc: proc, Tag: from.Tag}
	if err := c.alive(); err != nil {
		return nil, none, err
	}
	p.progress()
	if c.revoked {
		return nil, none, ulfm.ErrRevoked
	}
	if m := p.match.Probe(dataContext(c.group.Index, from.Class), proc, from.Tag); m != nil && !p.lost(m) {
		return m, Status{Proc: m.Src, Tag: m.Tag, Bytes: m.Size}, nil
	}
	op := ulfm.OpProbe
	if proc == Any {
		op = ulfm.OpProbeAny
	}
	return nil, none, c.entry(op, proc)
}

// lost reports whether the payload of a message died with its sender. A probe does not see such a
// message; a receive that matches it ends with an error.
func (p *Proc) lost(m *match.Message) bool { return m.Announced && p.isDead(m.Src) }

// awaitArrival leads, or follows, until anything happens in this process: a probe then polls again.
func (p *Proc) awaitArrival(ctx context.Context, c *Comm, from Envelope) error {
	p.mu.Lock()
	if err := c.alive(); err != nil { // nothing would end the request
		p.mu.Unlock()
		return err
	}
	r := p.newRequest(recvRequest, c, "probe")
	r.peer, r.Recv.Ctx, r.Recv.Src, r.Recv.Tag = c.proc(from.Rank), dataContext(c.group.Index, from.Class), c.proc(from.Rank), from.Tag
	p.probes = append(p.probes, r)
	p.checkProbes()
	p.mu.Unlock()
	err := p.leads.await(ctx, &r.own)
	p.mu.Lock()
	p.probes = slices.DeleteFunc(p.probes, func(x *Request) bool { return x == r })
	if err == nil && r.done() {
		err = r.err
	}
	p.complete(r, nil)
	p.free(r)
	p.mu.Unlock()
	return err
}

// checkProbes ends every probe that has something to report.
func (p *Proc) checkProbes() {
	for _, r := range p.probes {
		op := ulfm.OpProbe
		if r.peer == Any {
			op = ulfm.OpProbeAny
		}
		if !p.match.Accepts(r.Recv.Ctx) || p.match.Probe(r.Recv.Ctx, r.peer, r.Recv.Tag) != nil || r.comm.entry(op, r.peer) != nil {
			p.complete(r, nil)
		}
	}
}
