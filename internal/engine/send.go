package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/goulfm/goulfm/ulfm"
)

type matchRecv = match.Recv

// Any names every rank, or every tag.
const Any = match.Any

// Envelope is the destination or source of a message. Rank is a rank of the communicator; for
// receives Rank and Tag may be Any.
type Envelope struct {
	Rank  int
	Tag   int
	Class Class
	Elem  uint8 // element code: sender and receiver must agree
	Sync  bool  // a send that completes only once it is matched
}

// Send sends buf and returns when buf may be used again.
func (c *Comm) Send(ctx context.Context, to Envelope, buf []byte) error {
	p := c.p
	p.mu.Lock()
	p.called()
	r, tell, err := c.put(ctx, to, buf, "send")
	if proc := c.group.Procs[to.Rank]; r == nil && p.others.isAway(proc) {
		p.others.link.WriteOut(proc)
	}
	p.mu.Unlock()
	if tell {
		p.port.Tell(c.group.Procs[to.Rank], transport.Eager)
	}
	if r == nil {
		return err
	}
	return p.finishSend(ctx, r)
}

// Isend starts a send and returns its handle. Errors of failure are reported by
// the wait (R47).
func (c *Comm) Isend(to Envelope, buf []byte) (Handle, error) {
	p := c.p
	p.mu.Lock()
	p.called()
	r, tell, err := c.put(context.Background(), to, buf, "isend")
	p.loop.takeSend(c.group.Procs[to.Rank], r)
	if r == nil {
		if err != nil && !ulfm.Recoverable(err) {
			p.mu.Unlock()
			return 0, err
		}
		if err != nil {
			p.faults.Add(1)
		}
		r = p.newRequestAs(reqDone, sendRequest, c, "isend")
		r.peer, r.ctx, r.err = c.group.Procs[to.Rank], dataContext(0, to.Class), err
	}
	h := r.handle()
	p.mu.Unlock()
	if tell {
		p.port.Tell(c.group.Procs[to.Rank], transport.Eager)
	}
	return h, nil
}

// Post is Isend without a request for a send that is over at once: then the
// handle is zero.
func (c *Comm) Post(to Envelope, buf []byte) (Handle, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	r, err := c.send(context.Background(), to, buf, "isend")
	p.loop.takeSend(c.group.Procs[to.Rank], r)
	if r == nil {
		return 0, err
	}
	return r.handle(), nil
}

// send publishes the message at once if possible: then there is no request.
func (c *Comm) send(ctx context.Context, to Envelope, buf []byte, what string) (*Request, error) {
	r, tell, err := c.put(ctx, to, buf, what)
	if tell {
		c.p.port.Tell(c.group.Procs[to.Rank], transport.Eager)
	}
	return r, err
}

// put publishes a message like send, but does not ring the receiver's doorbell. If tell is true,
// the caller must call Port.Tell after it has released mu.
func (c *Comm) put(ctx context.Context, to Envelope, buf []byte, what string) (r *Request, tell bool, err error) {
	p := c.p
	proc := c.group.Procs[to.Rank]
	if !c.sendsOn && (!c.quiet() || ctx.Err() != nil) {
		if err := c.mayStart(ctx, ulfm.OpSend, to.Class, proc); err != nil {
			return nil, false, err
		}
	}
	if pausepoint.Enabled {
		pausepoint.At("engine.sends")
	}
	q := p.peers.At(proc)
	near := p.near(proc)
	if len(buf) <= segment.InlineBytes && near != nil && !to.Sync && proc != p.me && len(q.pushes) == 0 && p.takeCredit(proc, len(buf)) {
		q.asked = true
		l := transport.Label{Ctx: dataContext(c.group.Indices[to.Rank], to.Class), Tag: int32(to.Tag), Elem: to.Elem}
		if ok, tell := near.PutInline(proc, l, buf); ok {
			return nil, tell, nil
		}
		return p.queueSend(c, proc, transport.Header{Kind: transport.Eager, Ctx: l.Ctx, Tag: l.Tag, Elem: l.Elem, Size: len(buf)}, buf, what), false, nil
	}
	if len(buf) > transport.SizeMax {
		return nil, false, fmt.Errorf("%w: a message of %d bytes, the longest has %d", ErrNoRoom, len(buf), transport.SizeMax)
	}
	// a literal would be built in one place and copied in pieces of other sizes
	var h transport.Header
	h.Ctx, h.Tag, h.Elem, h.Size, h.Sync = dataContext(c.group.Indices[to.Rank], to.Class), int32(to.Tag), to.Elem, len(buf), to.Sync
	if proc == p.me {
		return p.sendSelf(c, h, buf, what), false, nil
	}
	q.asked = true
	if !to.Sync && p.sendsEagerly(proc, len(buf)) && len(q.pushes) == 0 && p.takeCredit(proc, len(buf)) {
		h.Kind = transport.Eager
		ok := false
		if near != nil {
			ok, tell = near.Put(proc, &h, buf)
		} else {
			ok = p.trySend(proc, &h, buf)
		}
		if ok {
			return nil, tell, nil
		}
		return p.queueSend(c, proc, h, buf, what), false, nil
	}
	h.Kind = transport.Announce
	return p.queueSend(c, proc, h, buf, what), false, nil
}

// sendsEagerly reports whether a message is sent without an announcement. The limit is higher
// between nodes, and where each rank has a core of its own: on a node the mapped memory is faster
// than the kernel up to a larger size.
func (p *Proc) sendsEagerly(proc, size int) bool {
	if size <= transport.ShortMax {
		return true
	}
	if p.others.isAway(proc) { // an announcement and its answer are two trips
		return size <= transport.LongMax
	}
	if size <= transport.LongMax && p.cfg.Mutual && p.near(proc) != nil && p.port.Processes() && p.port.TakesLong(proc) {
		return true
	}
	return size <= transport.EagerMax
}

// mayStart asks everything that can refuse an operation before it starts.
func (c *Comm) mayStart(ctx context.Context, op ulfm.Op, class Class, proc int) error {
	alive := c.alive
	if class == Collective { // a collective that began before c was freed continues
		alive = c.p.alive
	}
	if err := alive(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.p.node.Epoch() != c.p.epochSeen.Load() {
		c.p.gone.read()
		if err := alive(); err != nil { // the departure may be this process's own
			return err
		}
	}
	if class == Collective {
		op = ulfm.OpCollective
	}
	return c.mayEnter(op, proc)
}

// trySend copies the header for a transport that is an interface: the caller's
// would move to the heap for each message.
func (p *Proc) trySend(to int, h *transport.Header, buf []byte) bool {
	if port := p.near(to); port != nil {
		return port.TrySend(to, h, buf)
	}
	p.header = *h
	if !p.link.TrySend(to, &p.header, buf) {
		return false
	}
	// The link may gather the frame with others until the leader's next poll. A leader that sleeps
	// does not poll:
	//
	//	leader                         this goroutine
	//	asleep = true
	//	takes mu: nothing is gathered
	//	sleeps                         takes mu, sends a frame that is gathered
	//	                               waits for a word in memory, or computes
	//
	// A leader that is about to sleep either is seen here, or asks for mu later and finds the frame
	// (Pending).
	if p.leads.asleep.Load() && p.others.isAway(to) {
		p.others.link.WriteOut(to)
	}
	return true
}

func (p *Proc) takeCredit(proc, size int) bool {
	c := &p.peers.At(proc).credit
	if c.Take(match.Charge(size)) {
		return true
	}
	c.Returned(p.link.CreditReturned(proc))
	return c.Take(match.Charge(size))
}

// queueSend makes a request of a message that cannot be published at once, and queues the request
// for its peer: the ring or lane to the peer has no room, other sends are ahead, or the message must
// be announced.
func (p *Proc) queueSend(c *Comm, proc int, h transport.Header, buf []byte, what string) *Request {
	r := p.newRequest(sendRequest, c, what)
	r.peer, r.ctx, r.tag, r.elem, r.sync, r.buf = proc, h.Ctx, h.Tag, h.Elem, h.Sync, buf
	if h.Kind == transport.Announce {
		r.sending.Begin(proc)
	}
	p.enqueue(r)
	return r
}

// enqueue puts a send at the end of its peer's queue and pushes on.
func (p *Proc) enqueue(r *Request) {
	q := p.peers.At(r.peer)
	q.pushes = append(q.pushes, r)
	r.queued = true
	p.links.block(r.peer)
	p.links.pushOn()
}

// pushData publishes queued sends in their order, and parts of granted ones, as
// far as there is room.
func (ln *links) pushData(to int) bool {
	q := ln.p.peers.At(to)
	did := false
	for len(q.pushes) > 0 {
		r := q.pushes[0]
		q.pushes[0] = nil
		q.pushes = q.pushes[1:]
		r.queued = false
		if !ln.pushOne(to, r) {
			q.pushes = slices.Insert(q.pushes, 0, r)
			r.queued = true
			ln.block(to)
			return did
		}
		did = true
	}
	q.pushes = nil
	return did
}

// pushOne reports whether r is through with the queue.
func (ln *links) pushOne(to int, r *Request) bool {
	h := transport.Header{Ctx: r.ctx, Tag: r.tag, Elem: r.elem, Sync: r.sync, Size: len(r.buf)}
	switch {
	case r.sending.HasMatched():
		return ln.p.transfers.pushChunks(to, r)
	case r.sending.IsQueued():
		return ln.p.transfers.announce(to, r, &h)
	}
	h.Kind = transport.Eager
	if !ln.p.trySend(to, &h, r.buf) {
		return false
	}
	ln.p.complete(r, nil)
	return true
}

// finishSend waits for a send that is not over, and withdraws the send if ctx ends first and the
// message has not matched.
func (p *Proc) finishSend(ctx context.Context, r *Request) error {
	return p.endSend(r, p.leads.await(ctx, &r.own))
}

// endSend ends a send that is over, or withdraws the send because of err and returns err. A send
// that has matched completes.
func (p *Proc) endSend(r *Request, err error) error {
	if err != nil {
		if !p.withdrawSend(r) {
			err = nil
		}
		if e := p.leads.await(context.Background(), &r.own); e != nil {
			return e
		}
	}
	p.mu.Lock()
	if !errors.Is(r.err, errWithdrawn) { // a grant was on its way: the message is received, and ctx came too late
		err = r.err
	}
	p.free(r)
	p.mu.Unlock()
	return err
}

// errWithdrawn ends a send that was taken back.
var errWithdrawn = errors.New("send withdrawn")

// withdrawSend begins to withdraw a send; it returns false if it is too late.
func (p *Proc) withdrawSend(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.withdrawSendLocked(r)
}

func (p *Proc) withdrawSendLocked(r *Request) bool {
	switch {
	case r.done():
		return false
	case r.sending.IsUsed():
		return p.transfers.takeBack(r)
	}
	p.complete(r, errWithdrawn) // it waits for room
	return true
}

// sendSelf matches a message to this very process.
func (p *Proc) sendSelf(c *Comm, h transport.Header, buf []byte, what string) *Request {
	if rr := p.match.Arrive(h.Ctx, p.me, int(h.Tag)); rr != nil {
		p.deliver(p.slots[rr.Slot], p.me, &h, buf)
		return nil
	}
	m := p.match.Message()
	m.Ctx, m.Src, m.Tag, m.Size, m.Elem = h.Ctx, p.me, int(h.Tag), h.Size, h.Elem
	if !h.Sync && h.Size <= transport.EagerMax {
		m.Data = p.match.Buffer(len(buf))
		copy(m.Data, buf)
		p.match.Keep(m)
		p.checkProbes()
		return nil
	}
	r := p.newRequest(sendRequest, c, what)
	r.peer, r.ctx, r.tag, r.elem, r.sync, r.buf = p.me, h.Ctx, h.Tag, h.Elem, h.Sync, buf
	r.sending.Begin(p.me)
	r.sending.Announced(0)
	m.Announced, m.Handle, m.Sync = true, uint64(r.handle()), h.Sync
	p.match.Keep(m)
	p.checkProbes()
	return r
}
