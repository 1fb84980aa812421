package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/ulfm"
)

// Call makes a call that ends in an agreement and waits for its outcome; made is the
// new communicator, if the call makes one. A ctx that is over already gives
// ErrNotBegun: nothing is contributed, no sequence number is used, and the other
// members still wait for this one. One that ends in the wait gives a *ulfm.Error with
// the ranks that were waited for: the contribution stands, and the result is dropped.
func (c *Comm) Call(ctx context.Context, call commstate.Call, in Contribution, what string) (out commstate.Outcome, made *Comm, err error) {
	if err := ctx.Err(); err != nil {
		return out, nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	var h Handle
	if c.mem != nil && (call.Kind == commstate.KindAgree || call.Kind == commstate.KindAgreeFailed) {
		out, r, ok := c.agreeNow(ctx, call, in.Flag, what)
		if ok {
			heed(c)
			return out, nil, nil
		}
		if r != nil {
			h = r.handle()
		}
	}
	p := c.p
	p.mu.Lock()
	if h == 0 {
		h, err = startCall(c, call, in, what)
	}
	r := p.find(h)
	p.mu.Unlock()
	if err != nil {
		return out, nil, err
	}
	if err := p.leads.await(ctx, &r.own); err != nil {
		p.mu.Lock()
		err = &ulfm.Error{Ranks: p.waitsFor(r), Err: err}
		p.detach(r)
		p.mu.Unlock()
		return out, nil, err
	}
	p.mu.Lock()
	out, made, err = r.out, r.made, r.err
	p.free(r)
	p.mu.Unlock()
	heed(c)
	return out, made, err
}

// heed comes between an agreement of several nodes and its caller: the next action of this process,
// such as writing a file, is done on a node that others have not declared dead (F13).
func heed(c *Comm) {
	if c.nodes != nil && c.p.cfg.Heed != nil {
		c.p.cfg.Heed()
	}
}

// Awaited returns the ranks that an active request waits for; nil: any, or none.
func (p *Proc) Awaited(h Handle) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.named(h)
	if r == nil || r.done() {
		return nil
	}
	return p.waitsFor(r)
}

// waitsFor is Awaited for a caller that holds mu.
func (p *Proc) waitsFor(r *Request) (ranks []int) {
	if r.done() {
		return nil
	}
	for _, s := range p.services {
		if ranks, mine := s.waitsFor(r); mine {
			return ranks
		}
	}
	if r.peer >= 0 {
		return []int{r.comm.RankOf(r.peer)}
	}
	return nil
}

// Wait waits for a request and ends it. With ulfm.ErrProcFailedPending, or when
// ctx ends first, the request is still active.
func (p *Proc) Wait(ctx context.Context, h Handle) (Status, error) {
	p.mu.Lock()
	p.calls++
	r := p.named(h)
	p.mu.Unlock()
	if r == nil {
		return Status{}, ErrInactive
	}
	if err := p.leads.await(ctx, &r.own); err != nil {
		return Status{}, err
	}
	st, _, err := p.take(h)
	return st, err
}

// Test ends a request if it is complete, and reports whether it was.
func (p *Proc) Test(h Handle) (Status, bool, error) {
	p.mu.Lock()
	p.calls++
	if !p.fenced.Load() {
		p.progress()
	}
	p.mu.Unlock()
	return p.take(h)
}

// take ends a request that is done.
func (p *Proc) take(h Handle) (Status, bool, error) {
	p.mu.Lock()
	heed := p.cfg.Heed != nil && p.endsAgreement(h)
	st, done, err := p.takeRequest(p.named(h))
	p.mu.Unlock()
	if heed {
		p.cfg.Heed()
	}
	return st, done, err
}

// endsAgreement reports whether one of the requests is an agreement between nodes that is over: see
// heed. The caller holds mu.
func (p *Proc) endsAgreement(hs ...Handle) bool {
	for _, h := range hs {
		if r := p.named(h); r != nil && r.kind == callRequest && r.comm.nodes != nil && r.done() {
			return true
		}
	}
	return false
}

// takeRequest is take for a caller that holds mu.
func (p *Proc) takeRequest(r *Request) (Status, bool, error) {
	switch {
	case r == nil:
		return Status{}, false, ErrInactive
	case r.done():
		st, err := r.status, r.err
		p.free(r)
		return st, true, err
	case r.pending():
		return Status{}, false, ulfm.ErrProcFailedPending
	}
	return Status{}, false, nil
}

// borrow returns a group of the live requests. The caller holds mu, and gives the
// group back.
func (p *Proc) borrow(hs []Handle) *group {
	g := &group{}
	if last := len(p.groups) - 1; last >= 0 {
		g, p.groups = p.groups[last], p.groups[:last]
	}
	for _, h := range hs {
		g.many = append(g.many, p.named(h))
	}
	g.faults = p.faults.Load() - 1 // check all of them once
	return g
}

func (p *Proc) giveGroupBack(g *group) {
	clear(g.many)
	g.many, g.any, g.next, g.wake = g.many[:0], false, 0, nil
	p.groups = append(p.groups, g)
}

// WaitAll returns when every request is settled, or one has failed, and ends those that are over.
// errs is nil, or has an error or nil for each: one that may fail (R49) has
// ulfm.ErrProcFailedPending, and one that was over before, or is named twice, ErrInactive. got, if
// not nil, is called with the status of each completed request, in order, with the lock held. err
// is that of ctx; then none is ended.
func (p *Proc) WaitAll(ctx context.Context, hs []Handle, got func(i int, st Status)) (errs []error, err error) {
	p.mu.Lock()
	p.calls++
	if !p.overNow(hs) {
		g := p.borrow(hs)
		p.mu.Unlock()
		err := p.leads.await(ctx, g)
		p.mu.Lock()
		p.giveGroupBack(g)
		if err != nil {
			p.mu.Unlock()
			return nil, err
		}
	}
	heed := p.cfg.Heed != nil && p.endsAgreement(hs...)
	for i, h := range hs {
		r := p.named(h)
		if got == nil && r != nil && r.done() && r.err == nil {
			p.free(r)
			continue
		}
		st, done, err := p.takeRequest(r)
		if err != nil {
			if errs == nil {
				errs = make([]error, len(hs))
			}
			errs[i] = err
		}
		if got != nil && (done || err != nil) {
			got(i, st)
		}
	}
	p.mu.Unlock()
	if heed {
		p.cfg.Heed()
	}
	return errs, nil
}

// WaitSettled is WaitAll that ends none.
func (p *Proc) WaitSettled(ctx context.Context, hs []Handle) error {
	return p.waitSettled(ctx, hs, false)
}

// WaitAny returns when one of the requests is settled. It ends none: Test does.
func (p *Proc) WaitAny(ctx context.Context, hs []Handle) error {
	return p.waitSettled(ctx, hs, true)
}

func (p *Proc) waitSettled(ctx context.Context, hs []Handle, any bool) error {
	p.mu.Lock()
	p.calls++
	g := p.borrow(hs)
	g.any = any
	p.mu.Unlock()
	err := p.leads.await(ctx, g)
	p.mu.Lock()
	p.giveGroupBack(g)
	p.mu.Unlock()
	return err
}

// Active reports whether a handle names a request that is not over.
func (p *Proc) Active(h Handle) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named(h) != nil
}

// Cancel withdraws a receive that has not matched, and reports whether it did. The request is over
// then.
func (p *Proc) Cancel(h Handle) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.named(h)
	if r == nil || r.kind != recvRequest || r.done() || r.receiving.HasMatched() || !p.match.Withdraw(&r.Recv) {
		return false
	}
	p.complete(r, nil)
	p.free(r)
	return true
}

// Drop gives up a handle: the operation continues and frees itself. A send gets a copy of the rest
// of its buffer, which is the caller's again.
func (p *Proc) Drop(h Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.named(h); r != nil {
		if r.done() {
			p.free(r)
			return
		}
		if r.kind == sendRequest {
			if r.direct {
				p.transfers.giveBack(r)
			}
			r.buf = slices.Clone(r.buf)
		}
		r.detached = true
	}
}

// StartAgree begins an agreement on flag; when the request is complete *flag is
// the AND over the contributors.
func (c *Comm) StartAgree(flag *uint64) (Handle, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := c.alive(); err != nil {
		return 0, err
	}
	in := Contribution{Flag: *flag}
	r := p.newCall(c, "iagree")
	r.flag = flag
	p.proposeFor(r, commstate.Call{Kind: commstate.KindAgree}, in)
	p.progress()
	p.loop.hurryUp()
	return r.handle(), nil
}

// Settled reports whether a wait for all requests would return at once.
func (p *Proc) Settled(hs []Handle) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if !p.fenced.Load() {
		p.progress()
	}
	g := p.borrow(hs)
	defer p.giveGroupBack(g)
	return g.ready(p)
}
