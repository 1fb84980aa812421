package engine

import (
	"context"
	"errors"

	"github.com/goulfm/goulfm/internal/base/byteview"
	"github.com/goulfm/goulfm/ulfm"
)

// Recv receives into buf and returns the status. A longer message than buf fills buf and gives
// ErrTruncated.
func (c *Comm) Recv(ctx context.Context, from Envelope, buf []byte) (Status, error) {
	p := c.p
	p.mu.Lock()
	p.called()
	return c.recvLocked(ctx, from, buf, "recv")
}

// recvLocked is Recv for a caller that holds mu, which it releases.
func (c *Comm) recvLocked(ctx context.Context, from Envelope, buf []byte, what string) (Status, error) {
	p := c.p
	var st Status
	r, err, ok := c.recvNow(ctx, &from, buf, &st)
	switch {
	case ok && r == nil:
		p.mu.Unlock()
		return st, err
	case !ok:
		r, err = c.recv(ctx, from, buf, what, true)
	}
	if err != nil {
		p.mu.Unlock()
		return Status{Proc: c.proc(from.Rank), Tag: from.Tag}, err
	}
	if r.done() {
		st, err := r.status, r.err
		p.free(r)
		p.mu.Unlock()
		return st, err
	}
	p.mu.Unlock()
	return p.finishRecv(ctx, r)
}

// RecvValue receives a message of any length that holds a Go value (byteview.IsValue), and returns
// its payload and its code. It ends with ErrType for a message of numbers. The length is read and the
// receive is posted under one lock: between a probe and a receive another goroutine could take the
// message, and a longer one would meet the buffer.
func (c *Comm) RecvValue(ctx context.Context, from Envelope) (payload []byte, elem uint8, st Status, err error) {
	p := c.p
	for {
		if st, err := c.Probe(ctx, from); err != nil {
			return nil, 0, st, err
		}
		p.mu.Lock()
		m, st, err := c.next(from)
		if m != nil {
			from.Rank, from.Tag, from.Elem = c.RankOf(st.Proc), st.Tag, byteview.GobValue
			if byteview.IsValue(m.Elem) {
				from.Elem = m.Elem
			}
			buf := make([]byte, st.Bytes)
			st, err = c.recvLocked(ctx, from, buf, "recv")
			return buf, from.Elem, st, err
		}
		p.mu.Unlock()
		if err != nil {
			return nil, 0, st, err
		}
	}
}

// Irecv starts a receive and returns its handle.
func (c *Comm) Irecv(from Envelope, buf []byte) (Handle, error) {
	p := c.p
	p.mu.Lock()
	p.called()
	if c.quiet() {
		h := p.postReceive(c, &from, buf, "irecv", false).handle()
		p.loop.hurryUp()
		p.mu.Unlock()
		return h, nil
	}
	r, err := c.recv(context.Background(), from, buf, "irecv", false)
	if err != nil {
		if !ulfm.Recoverable(err) {
			p.mu.Unlock()
			return 0, err
		}
		r = p.newRequest(recvRequest, c, "irecv")
		r.peer = c.proc(from.Rank)
		r.status = Status{Proc: r.peer, Tag: from.Tag}
		p.complete(r, err)
	}
	p.loop.hurryUp()
	h := r.handle()
	p.mu.Unlock()
	return h, nil
}

func (c *Comm) proc(rank int) int {
	if rank == Any {
		return Any
	}
	return c.group.Procs[rank]
}

// recv posts a receive. Data that was complete before a failure is delivered (R8), so the rules are
// consulted only after the queues and the ring.
func (c *Comm) recv(ctx context.Context, from Envelope, buf []byte, what string, blocking bool) (*Request, error) {
	p := c.p
	proc := c.proc(from.Rank)
	var err error
	if !c.quiet() || ctx.Err() != nil {
		err = c.mayStart(ctx, recvOp(proc, blocking), from.Class, proc)
	}
	if err != nil && !errors.Is(err, ulfm.ErrProcFailed) && !errors.Is(err, ulfm.ErrProcFailedPending) || err != nil && from.Class == Collective {
		return nil, err
	}
	r := p.postReceive(c, &from, buf, what, blocking)
	if err == nil || r.done() || r.receiving.HasMatched() {
		return r, nil
	}
	switch {
	case proc == Any:
		p.progress()
	case proc != p.me:
		p.drain(proc)
	}
	if r.done() || r.receiving.HasMatched() {
		return r, nil
	}
	if r.wild && !blocking {
		r.setPending(true)
		p.faults.Add(1)
		return r, nil
	}
	p.match.Withdraw(&r.Recv)
	p.complete(r, nil)
	p.free(r)
	return nil, err
}

// postReceive posts a receive; it may be over afterwards.
func (p *Proc) postReceive(c *Comm, from *Envelope, buf []byte, what string, blocking bool) *Request {
	r := p.newReceive(c, from, buf, what, blocking)
	if m := p.match.Post(&r.Recv); m != nil {
		p.deliverKept(r, m)
	}
	return r
}

// newReceive returns the request of a receive that is not posted yet.
func (p *Proc) newReceive(c *Comm, from *Envelope, buf []byte, what string, blocking bool) *Request {
	r, proc := p.newRequest(recvRequest, c, what), c.proc(from.Rank)
	r.peer, r.elem, r.buf, r.wild, r.blocking = proc, from.Elem, buf, proc == Any, blocking
	r.Recv.Ctx, r.Recv.Src, r.Recv.Tag = dataContext(c.group.Index, from.Class), proc, from.Tag
	r.status = Status{Proc: proc, Tag: from.Tag} // as long as it is not known better (R46)
	return r
}

func recvOp(proc int, blocking bool) ulfm.Op {
	switch {
	case proc != Any:
		return ulfm.OpRecvNamed
	case blocking:
		return ulfm.OpRecvAny
	}
	return ulfm.OpRecvAnyPosted
}

func (p *Proc) finishRecv(ctx context.Context, r *Request) (Status, error) {
	return p.endRecv(r, p.leads.await(ctx, &r.own))
}

// endRecv ends a receive that is over, or withdraws the receive because of err and returns err. A
// receive that has matched completes.
func (p *Proc) endRecv(r *Request, err error) (Status, error) {
	p.mu.Lock()
	if !r.done() {
		if !r.receiving.HasMatched() && p.match.Withdraw(&r.Recv) {
			if err == nil { // a failure that is not acknowledged; a blocking call has no request to keep (R48)
				err = ulfm.ErrProcFailed
			}
			p.complete(r, err)
		} else { // it has matched: it completes
			p.mu.Unlock()
			if e := p.leads.await(context.Background(), &r.own); e != nil {
				return Status{}, e
			}
			p.mu.Lock()
		}
	}
	st, err := r.status, r.err
	p.free(r)
	p.mu.Unlock()
	return st, err
}
