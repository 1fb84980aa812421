package engine

import (
	"context"
	"slices"

	"github.com/goulfm/goulfm/ulfm"
)

// requests returns the live requests of the handles, nil for those that are
// over. The caller does not hold mu.
func (p *Proc) requests(hs []Handle) []*Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	rs := make([]*Request, len(hs))
	for i, h := range hs {
		rs[i] = p.named(h)
	}
	return rs
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
	if err := p.await(ctx, &r.own); err != nil {
		return Status{}, err
	}
	st, _, err := p.take(h)
	return st, err
}

// Test ends a request if it is complete, and says whether it was.
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
	defer p.mu.Unlock()
	r := p.named(h)
	switch {
	case r == nil:
		return Status{}, false, ErrInactive
	case r.done():
		st, err := r.status, r.err
		p.free(r)
		return st, true, err
	case r.pend.Load():
		return Status{}, false, ulfm.ErrProcFailedPending
	}
	return Status{}, false, nil
}

// WaitAll returns when every request is settled, or one has failed. It ends
// none: Test does.
func (p *Proc) WaitAll(ctx context.Context, hs []Handle) error {
	return p.await(ctx, &group{many: p.requests(hs)})
}

// WaitAny returns when one of the requests is settled. It ends none: Test does.
func (p *Proc) WaitAny(ctx context.Context, hs []Handle) error {
	return p.await(ctx, &group{many: p.requests(hs), any: true})
}

// Active says whether a handle names a request that is not over.
func (p *Proc) Active(h Handle) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named(h) != nil
}

// Cancel withdraws a receive that has not matched, and says whether it did. The
// request is over then.
func (p *Proc) Cancel(h Handle) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.named(h)
	if r == nil || r.kind != recvRequest || r.done() || r.matched || !p.match.Withdraw(&r.Recv) {
		return false
	}
	p.complete(r, nil)
	p.free(r)
	return true
}

// Drop gives up a handle: the operation goes on and frees itself. A send gets a
// copy of what is left of its buffer, which is the caller's again.
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
				p.giveBack(r)
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
	p.proposeFor(r, ulfm.Call{Kind: ulfm.KindAgree}, in)
	p.progress()
	return r.handle(), nil
}

// Settled says whether a wait for all requests would return at once.
func (p *Proc) Settled(hs []Handle) bool {
	p.mu.Lock()
	p.calls++
	if !p.fenced.Load() {
		p.progress()
	}
	p.mu.Unlock()
	return (&group{many: p.requests(hs)}).ready()
}
