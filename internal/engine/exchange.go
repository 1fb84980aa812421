package engine

import (
	"context"
	"errors"
)

// SendRecv sends out and receives into in, on a communicator of the same process. SendRecv ends
// when both halves are over, or one of them cannot complete, or ctx ends; then the other half is
// withdrawn unless it has matched, when it completes. Each half has its own error result; a half
// that was withdrawn because of the other one has none. The message of a send that was buffered at
// once stays sent.
//
// If SendRecv waited for one half after the other, it could wait for ever: the send is announced to
// rank 1, the receive waits for rank 2, which lives and sends nothing, and rank 1 dies.
func (c *Comm) SendRecv(ctx context.Context, to Envelope, out []byte, on *Comm, from Envelope, in []byte) (st Status, sendErr, recvErr error) {
	p := c.p
	p.mu.Lock()
	p.called()
	s, err := c.send(ctx, to, out, "sendrecv")
	switch {
	case err != nil:
		p.mu.Unlock()
		return Status{Proc: on.proc(from.Rank), Tag: from.Tag}, err, nil
	case s == nil: // out is on its way
		st, err := on.recvLocked(ctx, from, in, "sendrecv")
		return st, nil, err
	}
	r, err := on.recv(ctx, from, in, "sendrecv", true)
	if err != nil {
		p.mu.Unlock()
		_ = p.endSend(s, errWithdrawn) // the receive's error is the call's
		return Status{Proc: on.proc(from.Rank), Tag: from.Tag}, nil, err
	}
	g := p.borrow(nil)
	g.many = append(g.many, r, s)
	p.mu.Unlock()
	return p.finishBoth(ctx, g, s, r)
}

// finishBoth waits for the halves of a SendRecv, and ends a half that cannot complete.
func (p *Proc) finishBoth(ctx context.Context, g *group, s, r *Request) (st Status, sendErr, recvErr error) {
	err := p.leads.await(ctx, g)
	p.mu.Lock()
	p.giveGroupBack(g)
	sendFailed := s.done() && s.err != nil
	p.mu.Unlock()
	if err != nil {
		st, recvErr = p.endRecv(r, err)
		sendErr = p.endSend(s, err)
		return st, sendErr, recvErr
	}
	if sendFailed {
		st, recvErr = p.endRecv(r, errWithdrawn)
		sendErr = p.endSend(s, nil)
		return st, sendErr, unlessWithdrawn(recvErr)
	}
	st, recvErr = p.endRecv(r, nil)
	if recvErr == nil || errors.Is(recvErr, ErrTruncated) || errors.Is(recvErr, ErrType) {
		// a message that does not fit has arrived nevertheless
		return st, p.finishSend(ctx, s), recvErr
	}
	return st, unlessWithdrawn(p.endSend(s, errWithdrawn)), recvErr
}

// unlessWithdrawn leaves out that one half was given up because of the other.
func unlessWithdrawn(err error) error {
	if errors.Is(err, errWithdrawn) {
		return nil
	}
	return err
}
