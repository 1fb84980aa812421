package engine

import (
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/ulfm"
)

// The frames of long messages. Their rules are in package rendezvous, which this file hosts: it
// finds the requests of a frame, moves payloads, and ends completed requests. This file also
// decides whether a payload is sent in chunks or copied straight from memory to memory
// (transfer.go).

// announce publishes the announcement of a send, if there is room.
func (ts *transfers) announce(to int, r *Request, h *transport.Header) bool {
	h.Kind, h.Handle = transport.Announce, uint64(r.handle())
	if !r.direct {
		ts.open(r)
	}
	if r.direct {
		h.Addr, h.Transfer = segment.AddressOf(r.buf), ts.pushing[ts.pushOf(r)].account
	}
	if !ts.p.trySend(to, h, nil) {
		return false
	}
	r.sending.Announced(ts.p.peers.At(to).long.Count())
	return true
}

// isTakenBack counts an announcement that has come. If its sender has withdrawn the message before,
// the sender is notified that nothing has matched it.
func (ts *transfers) isTakenBack(from int, send uint64) bool {
	if !ts.p.peers.At(from).long.Hear(send) {
		return false
	}
	ts.p.links.sendControl(from, rendezvous.Withdrawn{Send: send}.Append(nil))
	return true
}

// refuse notifies the sender of an announced message that nothing receives it any more.
func (ts *transfers) refuse(to int, send, why uint64) {
	ts.p.links.sendControl(to, rendezvous.Refuse{Send: send, Why: why}.Append(nil))
}

// begin answers an announced message that a receive has matched: it is copied straight from the
// sender's memory, or the sender may push the part that fits the buffer.
func (ts *transfers) begin(r *Request, from int, h *transport.Header) {
	p := ts.p
	r.peer = from
	r.receiving.Match(from, h.Handle, h.Size, len(r.buf))
	// The receive now waits for this live sender, no more for any (R50). Otherwise a blocking
	// receive would return before the payload is there.
	r.setPending(false)
	n := r.receiving.Limit()
	r.status = Status{Proc: from, Tag: int(h.Tag), Bytes: n}
	r.err = judge(r.elem, len(r.buf), h.Elem, h.Size)
	switch {
	case from == p.me:
		ts.beginOwn(r, Handle(h.Handle))
	case p.isDead(from):
		p.complete(r, ulfm.ErrProcFailed)
	case !ts.pullFrom(r, from, h.Handle, h.Addr, h.Transfer):
		ts.grant(r)
		if n == 0 {
			p.complete(r, r.err)
		}
	}
}

// beginOwn copies a message of this process to itself.
func (ts *transfers) beginOwn(r *Request, send Handle) {
	s := ts.p.find(send)
	if s == nil {
		ts.p.complete(r, ulfm.ErrRevoked)
		return
	}
	copy(r.buf, s.buf)
	ts.p.complete(s, nil)
	ts.p.complete(r, r.err)
}

// grant asks for all chunks of the message that a receive has matched.
func (ts *transfers) grant(r *Request) {
	ts.p.links.sendControl(r.peer, r.receiving.Grant(uint64(r.handle())).Append(nil))
}

// pushChunks publishes the rest of a message, as far as there is room, and reports whether all is
// out.
func (ts *transfers) pushChunks(to int, r *Request) bool {
	most := transport.ChunkMax
	if ts.p.others.isAway(to) {
		most = transport.LongMax
	}
	for {
		recv, offset, n := r.sending.Chunk(most)
		if n == 0 {
			ts.p.complete(r, nil)
			return true
		}
		h := transport.Header{Kind: transport.Chunk, Size: n, Handle: recv, Offset: offset}
		if !ts.p.trySend(to, &h, r.buf[offset:offset+n]) {
			return false
		}
		r.sending.Pushed(n)
	}
}

// chunk puts a part of a granted message in its place. Parts for a receive that
// ended meanwhile are dropped.
func (ts *transfers) chunk(from int, f *transport.Frame) {
	r := ts.p.find(Handle(f.Handle))
	if r == nil || !r.receiving.Lands(from, f.Offset, f.Size) {
		return
	}
	copy(r.buf[f.Offset:], f.Payload)
	if r.receiving.Landed(f.Size) {
		ts.p.complete(r, r.err)
	}
}

// takeBack begins to withdraw a long message; it returns false if it is too late.
func (ts *transfers) takeBack(r *Request) bool {
	p := ts.p
	switch r.sending.TakeBack() {
	case rendezvous.TooLate:
		return false
	case rendezvous.AtOnce:
		p.complete(r, errWithdrawn)
	case rendezvous.Ask:
		if r.peer == p.me {
			if !rendezvous.Drop(p.match, p.me, uint64(r.handle())) {
				return false // a matched probe has it
			}
			p.complete(r, errWithdrawn)
			break
		}
		p.links.sendControl(r.peer, r.sending.Withdraw(uint64(r.handle())).Append(nil))
		p.links.pushOn()
	}
	return true
}

// giveUp notifies the rules that a request ends, for any reason.
func (ts *transfers) giveUp(r *Request) {
	switch {
	case r.sending.IsUsed():
		// The dead, and leaving processes, send nothing any more.
		if gone, tell := r.sending.End(); tell && ts.p.alive() == nil {
			ts.p.links.sendControl(r.peer, gone.Append(nil))
		}
	case r.receiving.HasMatched():
		r.receiving.End()
	}
}

// hear handles a control frame of a long message.
func (ts *transfers) hear(from int, frame []byte) {
	if err := rendezvous.Hear(ts, from, frame); err != nil {
		ts.p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
	}
}

// Granted is a method of rendezvous.Host.
func (ts *transfers) Granted(from int, g rendezvous.Grant) {
	ts.dropPush(g.Send)
	r := ts.p.find(Handle(g.Send))
	if r == nil || !r.sending.Grant(from, g, len(r.buf)) {
		ts.p.links.sendControl(from, rendezvous.Gone{Recv: g.Recv}.Append(nil))
		return
	}
	r.direct = false
	ts.p.enqueue(r)
}

// AskedBack is a method of rendezvous.Host.
func (ts *transfers) AskedBack(from int, w rendezvous.Withdraw) {
	// control frames overtake data frames; the sender should not wait until this process's next
	// poll
	ts.p.drain(from)
	if ts.p.peers.At(from).long.TakeBack(ts.p.match, from, w) {
		ts.p.links.sendControl(from, rendezvous.Withdrawn{Send: w.Send}.Append(nil))
	}
}

// Withdrawn is a method of rendezvous.Host.
func (ts *transfers) Withdrawn(from int, w rendezvous.Withdrawn) {
	ts.dropPush(w.Send)
	if r := ts.p.find(Handle(w.Send)); r != nil && r.sending.Withdrawn(from) {
		r.direct = false
		ts.p.complete(r, errWithdrawn)
	}
}

// Refused is a method of rendezvous.Host.
func (ts *transfers) Refused(from int, f rendezvous.Refuse) {
	ts.dropPush(f.Send)
	if r := ts.p.find(Handle(f.Send)); r != nil && r.sending.Refused(from) {
		r.direct = false
		ts.p.complete(r, refusalError(f.Why))
	}
}

// Gone is a method of rendezvous.Host.
func (ts *transfers) Gone(from int, g rendezvous.Gone) {
	if r := ts.p.find(Handle(g.Recv)); r != nil && r.receiving.IsGone(from) {
		ts.p.complete(r, ulfm.ErrRevoked)
	}
}
