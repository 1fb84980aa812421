package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/match"
	"github.com/goulfm/goulfm/internal/segment"
	"github.com/goulfm/goulfm/internal/transport"
	"github.com/goulfm/goulfm/ulfm"
)

type matchRecv = match.Recv

// Any names every rank, or every tag.
const Any = match.Any

// Envelope says where a message goes or comes from. Rank is a rank of the
// communicator; for receives Rank and Tag may be Any.
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
	} else {
		p.underWay()
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
	if r == nil {
		return 0, err
	}
	p.underWay()
	return r.handle(), nil
}

// send publishes the message at once if it can: then it returns no request.
func (c *Comm) send(ctx context.Context, to Envelope, buf []byte, what string) (*Request, error) {
	r, tell, err := c.put(ctx, to, buf, what)
	if tell {
		c.p.port.Tell(c.group.Procs[to.Rank], transport.Eager)
	}
	return r, err
}

// put is send that leaves it to its caller to tell the receiver of an eager message, if it
// says so: once the caller has given mu back.
func (c *Comm) put(ctx context.Context, to Envelope, buf []byte, what string) (r *Request, tell bool, err error) {
	p := c.p
	proc := c.group.Procs[to.Rank]
	if !c.quiet() || ctx.Err() != nil {
		if err := c.mayStart(ctx, ulfm.OpSend, to.Class, proc); err != nil {
			return nil, false, err
		}
	}
	q := &p.peers[proc]
	if len(buf) <= segment.InlineBytes && p.port != nil && !to.Sync && proc != p.me && len(q.pushes) == 0 && p.takeCredit(proc, len(buf)) {
		q.asked = true
		l := transport.Label{Ctx: dataContext(c.group.Indices[to.Rank], to.Class), Tag: int32(to.Tag), Elem: to.Elem}
		if ok, tell := p.port.PutInline(proc, l, buf); ok {
			return nil, tell, nil
		}
		return p.queueSend(c, proc, transport.Header{Kind: transport.Eager, Ctx: l.Ctx, Tag: l.Tag, Elem: l.Elem, Size: len(buf)}, buf, what), false, nil
	}
	if len(buf) > transport.SizeMax {
		return nil, false, fmt.Errorf("%w: a message of %d bytes, the longest has %d", ErrNoRoom, len(buf), transport.SizeMax)
	}
	var h transport.Header // a literal would be made in one place and copied to another, in pieces that do not match
	h.Ctx, h.Tag, h.Elem, h.Size, h.Sync = dataContext(c.group.Indices[to.Rank], to.Class), int32(to.Tag), to.Elem, len(buf), to.Sync
	if proc == p.me {
		return p.sendSelf(c, h, buf, what), false, nil
	}
	q.asked = true
	if !to.Sync && p.sendsEagerly(proc, len(buf)) && len(q.pushes) == 0 && p.takeCredit(proc, len(buf)) {
		h.Kind = transport.Eager
		ok := false
		if p.port != nil {
			ok, tell = p.port.Put(proc, &h, buf)
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

// sendsEagerly says whether a message goes without an announcement. Where each rank has a
// core its own, longer ones do: memory that both map is faster than the kernel for some more.
func (p *Proc) sendsEagerly(proc, size int) bool {
	if size <= transport.ShortMax {
		return true
	}
	if size <= transport.LongMax && p.cfg.Mutual && p.port != nil && p.port.Processes() && p.port.TakesLong(proc) {
		return true
	}
	return size <= transport.EagerMax
}

// mayStart asks everything that can refuse an operation before it starts.
func (c *Comm) mayStart(ctx context.Context, op ulfm.Op, class Class, proc int) error {
	alive := c.alive
	if class == Collective { // what had begun before c was freed goes on
		alive = c.p.alive
	}
	if err := alive(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.p.node.Epoch() != c.p.epochSeen.Load() {
		c.p.readDepartures()
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
	if p.port != nil {
		return p.port.TrySend(to, h, buf)
	}
	p.header = *h
	return p.link.TrySend(to, &p.header, buf)
}

func (p *Proc) takeCredit(proc, size int) bool {
	c := &p.peers[proc].credit
	if c.Take(match.Charge(size)) {
		return true
	}
	c.Returned(p.link.CreditReturned(proc))
	return c.Take(match.Charge(size))
}

// queueSend makes a request of a send that cannot be published at once: the
// peer's ring is full, others are in front, or it must be announced.
func (p *Proc) queueSend(c *Comm, proc int, h transport.Header, buf []byte, what string) *Request {
	r := p.newRequest(sendRequest, c, what)
	r.peer, r.ctx, r.tag, r.elem, r.sync, r.buf = proc, h.Ctx, h.Tag, h.Elem, h.Sync, buf
	if h.Kind == transport.Announce {
		r.phase = announceQueued
	}
	p.enqueue(r)
	return r
}

// enqueue puts a send at the end of its peer's queue and pushes on.
func (p *Proc) enqueue(r *Request) {
	q := &p.peers[r.peer]
	q.pushes = append(q.pushes, r)
	r.queued = true
	p.block(r.peer)
	p.pushOn()
}

// pushData publishes queued sends in their order, and parts of granted ones, as
// far as there is room.
func (p *Proc) pushData(to int) bool {
	q := &p.peers[to]
	did := false
	for len(q.pushes) > 0 {
		r := q.pushes[0]
		q.pushes[0] = nil
		q.pushes = q.pushes[1:]
		r.queued = false
		if !p.pushOne(to, r) {
			q.pushes = slices.Insert(q.pushes, 0, r)
			r.queued = true
			p.block(to)
			return did
		}
		did = true
	}
	q.pushes = nil
	return did
}

// pushOne says whether r is through with the queue.
func (p *Proc) pushOne(to int, r *Request) bool {
	h := transport.Header{Ctx: r.ctx, Tag: r.tag, Elem: r.elem, Sync: r.sync, Size: len(r.buf)}
	switch r.phase {
	case granted:
		return p.pushChunks(to, r)
	case eagerQueued:
		h.Kind = transport.Eager
		if !p.trySend(to, &h, r.buf) {
			return false
		}
		p.complete(r, nil)
		return true
	}
	h.Kind, h.Handle = transport.Announce, uint64(r.handle())
	if !r.direct {
		p.openTransfer(r)
	}
	if r.direct {
		h.Addr, h.Transfer = segment.AddressOf(r.buf), p.pushing[p.pushOf(r)].account
	}
	if !p.trySend(to, &h, nil) {
		return false
	}
	r.phase = announced
	return true
}

func (p *Proc) pushChunks(to int, r *Request) bool {
	for r.moved < r.expect {
		n := min(r.expect-r.moved, transport.ChunkMax)
		h := transport.Header{Kind: transport.Chunk, Size: n, Handle: r.remote, Offset: r.moved}
		if !p.trySend(to, &h, r.buf[r.moved:r.moved+n]) {
			return false
		}
		r.moved += n
	}
	p.complete(r, nil)
	return true
}

// finishSend waits for a send that is not over, and takes it back if ctx ends
// first and it has not matched.
func (p *Proc) finishSend(ctx context.Context, r *Request) error {
	return p.endSend(r, p.await(ctx, &r.own))
}

// endSend ends a send that is over, or takes it back because of err, which it then
// returns, unless it has matched: then it completes.
func (p *Proc) endSend(r *Request, err error) error {
	if err != nil {
		if !p.withdrawSend(r) {
			err = nil
		}
		if e := p.await(context.Background(), &r.own); e != nil {
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

// withdrawSend starts taking a send back; it says false if it is too late.
func (p *Proc) withdrawSend(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.withdrawSendLocked(r)
}

func (p *Proc) withdrawSendLocked(r *Request) bool {
	switch {
	case r.done() || r.phase >= granted:
		return false
	case r.queued: // never published
		p.complete(r, errWithdrawn)
	case r.peer == p.me:
		p.dropAnnounced(p.me, uint64(r.handle()))
		p.complete(r, errWithdrawn)
	default: // the peer answers: withdrawn, or granted before it heard this
		p.sendControl(r.peer, controlFrame(frameWithdraw, uint64(r.handle())))
		p.pushOn()
	}
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
	r.peer, r.ctx, r.tag, r.elem, r.sync, r.buf, r.phase = p.me, h.Ctx, h.Tag, h.Elem, h.Sync, buf, announced
	m.Announced, m.Handle, m.Sync = true, uint64(r.handle()), h.Sync
	p.match.Keep(m)
	p.checkProbes()
	return r
}

// Recv receives into buf and says what it got. A longer message than buf fills
// buf and gives ErrTruncated.
func (c *Comm) Recv(ctx context.Context, from Envelope, buf []byte) (Status, error) {
	p := c.p
	p.mu.Lock()
	p.called()
	return c.recvLocked(ctx, from, buf, "recv")
}

// recvLocked is Recv for a caller that holds mu; it gives it back.
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

// RecvWhole receives a message whatever its length, and returns its payload. The
// length is looked up and the receive is posted under one lock: between a probe
// and a receive another goroutine could take the message, and a longer one would
// meet the buffer.
func (c *Comm) RecvWhole(ctx context.Context, from Envelope) ([]byte, Status, error) {
	p := c.p
	for {
		if st, err := c.Probe(ctx, from); err != nil {
			return nil, st, err
		}
		p.mu.Lock()
		st, ok, err := c.iprobe(from)
		if ok {
			from.Rank, from.Tag = c.RankOf(st.Proc), st.Tag
			buf := make([]byte, st.Bytes)
			st, err = c.recvLocked(ctx, from, buf, "recv")
			return buf, st, err
		}
		p.mu.Unlock()
		if err != nil {
			return nil, st, err
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
		p.underWay()
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
	p.underWay()
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

// recv posts a receive. Data that was complete before a failure is delivered
// (R8), so the rules are asked only after a look at what is there.
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
	if err == nil || r.done() || r.matched {
		return r, nil
	}
	switch {
	case proc == Any:
		p.progress()
	case proc != p.me:
		p.drain(proc)
	}
	if r.done() || r.matched {
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
	return p.endRecv(r, p.await(ctx, &r.own))
}

// endRecv ends a receive that is over, or withdraws it because of err, which it then
// returns, unless it has matched: then it completes.
func (p *Proc) endRecv(r *Request, err error) (Status, error) {
	p.mu.Lock()
	if !r.done() {
		if !r.matched && p.match.Withdraw(&r.Recv) {
			if err == nil { // a failure that is not acknowledged; a blocking call has no request to keep (R48)
				err = ulfm.ErrProcFailed
			}
			p.complete(r, err)
		} else { // it has matched: it completes
			p.mu.Unlock()
			if e := p.await(context.Background(), &r.own); e != nil {
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

// drain handles every data frame that a process has published.
func (p *Proc) drain(from int) bool {
	did := false
	for {
		if p.port != nil && p.arriveInline(from) {
			did = true
			continue
		}
		var f transport.Frame // of this loop's own: an action may drain, too
		if !p.next(from, &f) {
			if did {
				p.link.Sweep(from)
			} else {
				p.checkBroken(from)
			}
			return did
		}
		did = true
		p.arrive(from, &f)
		p.advance(from)
	}
}

// arriveInline handles the next frame of a process if it is a short message for which
// a receive is posted that names the sender: a member, then.
func (p *Proc) arriveInline(from int) bool {
	l, payload, ok := p.port.NextInline(from)
	if !ok {
		return false
	}
	rr := p.match.ArriveNamed(l.Ctx, from, int(l.Tag))
	if rr == nil {
		return false
	}
	r := p.slots[rr.Slot]
	r.status = Status{Proc: from, Tag: int(l.Tag), Bytes: copy(r.buf, payload)}
	p.port.AdvanceInline(from)
	p.letGo(from, len(payload))
	p.end(r, judge(r.elem, len(r.buf), l.Elem, len(payload)))
	return true
}

// next looks at the next frame of a process.
func (p *Proc) next(from int, f *transport.Frame) (ok bool) {
	if p.port != nil {
		return p.port.Next(from, f)
	}
	*f, ok = p.link.Peek(from)
	return ok
}

func (p *Proc) advance(from int) {
	if p.port != nil {
		p.port.Advance(from)
		return
	}
	p.link.Advance(from)
}

func (p *Proc) arrive(from int, f *transport.Frame) {
	if f.Kind == transport.Chunk {
		p.chunk(f)
		return
	}
	if !p.match.Accepts(f.Ctx) || !p.mayBeMember(f.Ctx, from) {
		p.refuse(from, f)
		return
	}
	if rr := p.match.Arrive(f.Ctx, from, int(f.Tag)); rr != nil {
		r := p.slots[rr.Slot]
		if f.Kind == transport.Announce {
			p.grant(r, from, &f.Header)
			return
		}
		p.deliver(r, from, &f.Header, f.Payload)
		p.letGo(from, f.Size)
		return
	}
	c := p.commAt(f.Ctx / uint32(classes))
	if f.Kind == transport.Announce && c != nil && p.refusesAnnounced(f.Ctx) {
		p.ending.unreceived.note(c, from, int(f.Tag))
		p.refuse(from, f)
		return
	}
	collective := c != nil && Class(f.Ctx%uint32(classes)) == Collective
	// A notice is announced where its sender has other sends before it in its queue.
	if collective && (f.Kind == transport.Eager || f.Tag&Notice != 0) && c.late(int(f.Tag)) {
		p.refuse(from, f)
		return
	}
	m := p.match.Message()
	m.Ctx, m.Src, m.Tag, m.Size, m.Elem, m.Sync = f.Ctx, from, int(f.Tag), f.Size, f.Elem, f.Sync
	if f.Kind == transport.Announce {
		m.Announced, m.Handle, m.Addr, m.Transfer = true, f.Handle, f.Addr, f.Transfer
	} else {
		m.Data = p.match.Buffer(len(f.Payload))
		copy(m.Data, f.Payload)
	}
	if !p.match.Keep(m) && f.Kind == transport.Eager {
		p.letGo(from, f.Size)
	}
	p.kept.Add(1)
	if collective && len(c.schedules) > 0 {
		c.heard(c.RankOf(from), int(f.Tag))
	}
	// Here and not after progress: the receive of another goroutine takes frames
	// out of the ring, too, and the leader would find nothing new.
	p.checkProbes()
}

// mayBeMember is false for a sender that the context's communicator does not have.
func (p *Proc) mayBeMember(ctx uint32, from int) bool {
	c := p.commAt(ctx / uint32(classes))
	return c == nil || c.RankOf(from) >= 0 // nil: pending, its members are not known yet
}

// letGo returns credit for a pushed payload, in eighths of the limit.
func (p *Proc) letGo(from, size int) {
	if from == p.me {
		return
	}
	q := &p.peers[from]
	q.released += uint64(match.Charge(size))
	if q.released-q.told >= p.creditStep {
		q.told = q.released
		p.link.ReturnCredit(from, q.released)
	}
}

// refuse drops a frame for a context that is gone; whoever announced must hear it.
func (p *Proc) refuse(from int, f *transport.Frame) {
	if f.Kind == transport.Eager {
		p.letGo(from, f.Size)
		return
	}
	p.sendControl(from, controlFrame(frameRefuse, f.Handle, p.refusal(f.Ctx)))
}

// Why a message is refused, as the sender is told.
const (
	refusedFreed uint64 = iota
	refusedRevoked
	refusedEnding
)

// refusal says why nothing is received on a context any more. The matcher has one state for
// a communicator that was revoked and one that was freed, because a communicator that is
// freed here lives on until all members have freed it.
func (p *Proc) refusal(ctx uint32) uint64 {
	switch c := p.commAt(ctx / uint32(classes)); {
	case c == nil && p.match.State(ctx) == match.Revoked, c != nil && c.revoked:
		return refusedRevoked
	case c != nil && !c.freed && p.refusesAnnounced(ctx):
		return refusedEnding
	}
	return refusedFreed
}

// refusalError is what a refusal is for the sender.
func refusalError(why uint64) error {
	switch why {
	case refusedRevoked:
		return ulfm.ErrRevoked
	case refusedEnding:
		return errEnding
	}
	return errFreedByReceiver
}

// errFreedByReceiver ends a send whose receiver has freed the communicator.
var errFreedByReceiver = fmt.Errorf("%w by the receiver", ErrFreed)

// dropped is told of every unexpected message that the matcher gives up.
func (p *Proc) dropped(m *match.Message) {
	switch {
	case !m.Announced:
		p.letGo(m.Src, m.Size)
	case m.Src == p.me:
		if r := p.find(Handle(m.Handle)); r != nil {
			p.complete(r, refusalError(p.refusal(m.Ctx)))
		}
	default:
		p.sendControl(m.Src, controlFrame(frameRefuse, m.Handle, p.refusal(m.Ctx)))
	}
}

// deliver copies a whole message into the receive that matched it.
func (p *Proc) deliver(r *Request, from int, h *transport.Header, payload []byte) {
	n := copy(r.buf, payload)
	r.status = Status{Proc: from, Tag: int(h.Tag), Bytes: n}
	p.end(r, judge(r.elem, len(r.buf), h.Elem, h.Size))
}

// judge says what is wrong with a message of size bytes of elem for a receive.
func judge(wants uint8, room int, elem uint8, size int) error {
	switch {
	case elem != wants && elem != 0 && wants != 0:
		return &Unfit{Err: ErrType, Elem: elem, Size: size, Wants: wants, Room: room}
	case size > room:
		return &Unfit{Err: ErrTruncated, Elem: elem, Size: size, Wants: wants, Room: room}
	}
	return nil
}

// deliverKept completes a receive from an unexpected message.
func (p *Proc) deliverKept(r *Request, m *match.Message) {
	h := transport.Header{Tag: int32(m.Tag), Elem: m.Elem, Size: m.Size, Handle: m.Handle, Addr: m.Addr, Transfer: m.Transfer}
	if m.Announced {
		p.grant(r, m.Src, &h)
		p.match.Recycle(m)
		return
	}
	p.deliver(r, m.Src, &h, m.Data)
	p.letGo(m.Src, m.Size)
	p.match.Recycle(m)
}

// grant answers an announced message that matched: it is copied straight from the
// sender's memory, or the sender may push what fits the buffer.
func (p *Proc) grant(r *Request, from int, h *transport.Header) {
	r.matched, r.peer, r.remote = true, from, h.Handle
	// It waits for this live sender now, no more for any (R50). Were it still
	// pending, a blocking receive would return before the payload is there.
	r.setPending(false)
	r.expect = min(h.Size, len(r.buf))
	r.status = Status{Proc: from, Tag: int(h.Tag), Bytes: r.expect}
	r.err = judge(r.elem, len(r.buf), h.Elem, h.Size)
	if from == p.me {
		s := p.find(Handle(h.Handle))
		copy(r.buf, s.buf)
		p.complete(s, nil)
		p.complete(r, r.err)
		return
	}
	if p.peers[from].dead {
		p.complete(r, ulfm.ErrProcFailed)
		return
	}
	if p.pullFrom(r, from, h.Handle, h.Addr, h.Transfer) {
		return
	}
	p.sendControl(from, controlFrame(frameGrant, h.Handle, uint64(r.handle()), uint64(r.expect)))
	if r.expect == 0 {
		p.complete(r, r.err)
	}
}

// chunk puts a part of a granted message in its place. Parts for a receive that
// ended meanwhile find no request and are dropped.
func (p *Proc) chunk(f *transport.Frame) {
	r := p.find(Handle(f.Handle))
	if r == nil || r.done() || !r.matched || f.Offset != r.moved || f.Offset+f.Size > r.expect {
		return
	}
	copy(r.buf[f.Offset:], f.Payload)
	r.moved += f.Size
	if r.moved == r.expect {
		p.complete(r, r.err)
	}
}

// engineFrame handles the engine's own control frames.
func (p *Proc) engineFrame(from int, frame []byte) {
	var w [3]uint64
	rest := frame[1:]
	for i := range w {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			break
		}
		w[i], rest = v, rest[n:]
	}
	r := p.find(Handle(w[0]))
	switch frame[0] {
	case frameGrant:
		p.dropPush(Handle(w[0]))
		if !p.granted(from, r, w[1], w[2]) {
			p.sendControl(from, controlFrame(frameGone, w[1]))
		}
	case frameWithdraw:
		// Control frames overtake data frames: the announcement may still be in the
		// ring. Not looked for there, it would stay, and the sender without an answer.
		p.drain(from)
		if p.dropAnnounced(from, w[0]) {
			p.sendControl(from, controlFrame(frameWithdrawn, w[0]))
		}
	case frameWithdrawn:
		p.dropPush(Handle(w[0]))
		if r != nil && r.kind == sendRequest && r.phase == announced {
			r.direct = false
			p.complete(r, errWithdrawn)
		}
	case frameRefuse:
		p.dropPush(Handle(w[0]))
		if r != nil && r.kind == sendRequest && r.peer == from {
			r.direct = false
			p.complete(r, refusalError(w[1]))
		}
	case frameGone:
		if r != nil && r.kind == recvRequest && r.matched && r.peer == from {
			p.complete(r, ulfm.ErrRevoked)
		}
	}
}

// granted says false if there is no such message any more: its sender had its
// buffer back before (a revocation that the receiver has yet to hear of).
func (p *Proc) granted(from int, r *Request, remote, limit uint64) bool {
	if r == nil || r.kind != sendRequest || r.peer != from || r.queued || r.phase < announced || r.done() || limit > uint64(len(r.buf)) {
		return false
	}
	r.direct = false
	r.phase, r.remote, r.expect, r.moved = granted, remote, int(limit), 0
	p.enqueue(r)
	return true
}

// dropAnnounced takes an announced message out of the unexpected queue.
func (p *Proc) dropAnnounced(from int, handle uint64) bool {
	m := p.match.Announced(from, handle)
	if m == nil {
		return false
	}
	p.match.Take(m)
	p.match.Recycle(m)
	return true
}

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

// Iprobe looks for a message that a receive would match.
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

// lost says whether the payload of a message died with its sender. It is not there for a
// probe, and an error for the receive that it matches.
func (p *Proc) lost(m *match.Message) bool { return m.Announced && p.peers[m.Src].dead }

// awaitArrival leads, or follows, until anything happens in this process: a
// probe then looks again.
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
	err := p.await(ctx, &r.own)
	p.mu.Lock()
	p.probes = slices.DeleteFunc(p.probes, func(x *Request) bool { return x == r })
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
