package engine

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/ulfm"
)

// drain handles every data frame that a process has published.
func (p *Proc) drain(from int) bool {
	did := false
	inMemory := p.near(from) != nil
	for {
		if inMemory && p.arriveInline(from) {
			did = true
			continue
		}
		var f transport.Frame // of this loop's own: an action may drain, too
		if !p.next(from, &f) {
			if did {
				p.link.Sweep(from)
			} else {
				p.links.checkBroken(from)
			}
			return did
		}
		did = true
		p.arrive(from, &f)
		p.advance(from)
	}
}

// drainArrived handles the frames that have arrived from all peers, and reports whether there were
// any. The caller holds mu.
func (l *links) drainArrived() (did bool) {
	l.taken = l.p.link.Take(transport.Data, l.taken[:0])
	for _, from := range l.taken {
		did = l.p.drain(from) || did
		l.p.link.Sweep(from)
	}
	return did
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

// next peeks at the next frame of a process.
func (p *Proc) next(from int, f *transport.Frame) (ok bool) {
	if port := p.near(from); port != nil {
		return port.Next(from, f)
	}
	*f, ok = p.link.Peek(from)
	return ok
}

func (p *Proc) advance(from int) {
	if port := p.near(from); port != nil {
		port.Advance(from)
		return
	}
	p.link.Advance(from)
}

func (p *Proc) arrive(from int, f *transport.Frame) {
	if f.Kind == transport.Chunk {
		p.transfers.chunk(from, f)
		return
	}
	if Class(f.Ctx%uint32(classes)) == OneSided {
		p.memory.oneSided.arrive(from, f)
		return
	}
	if Class(f.Ctx%uint32(classes)) == inOrder {
		p.leads.answered(from)
		return
	}
	if f.Kind == transport.Announce && p.transfers.isTakenBack(from, f.Handle) {
		return
	}
	if !p.match.Accepts(f.Ctx) || !p.mayBeMember(f.Ctx, from) {
		p.refuse(from, f)
		return
	}
	if rr := p.match.Arrive(f.Ctx, from, int(f.Tag)); rr != nil {
		r := p.slots[rr.Slot]
		if f.Kind == transport.Announce {
			p.transfers.begin(r, from, &f.Header)
			return
		}
		p.deliver(r, from, &f.Header, f.Payload)
		p.letGo(from, f.Size)
		return
	}
	c := p.commAt(f.Ctx / uint32(classes))
	if f.Kind == transport.Announce && c != nil && p.ending.refusesAnnounced(f.Ctx) {
		p.ending.unreceived.note(c, from, int(f.Tag))
		p.refuse(from, f)
		return
	}
	collective := c != nil && Class(f.Ctx%uint32(classes)) == Collective
	// A notice is announced where its sender has other sends before it in its queue.
	if collective && (f.Kind == transport.Eager || f.Tag&sched.Notice != 0) && c.late(int(f.Tag)) {
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
	q := p.peers.At(from)
	q.released += uint64(match.Charge(size))
	if q.released-q.told >= p.creditStep {
		q.told = q.released
		p.link.ReturnCredit(from, q.released)
	}
}

// refuse drops a frame for a context that is closed. The sender of an announcement is notified.
func (p *Proc) refuse(from int, f *transport.Frame) {
	if f.Kind == transport.Eager {
		p.letGo(from, f.Size)
		return
	}
	p.transfers.refuse(from, f.Handle, p.refusal(f.Ctx))
}

// Reasons for a refusal, as sent to the sender.
const (
	refusedFreed uint64 = iota
	refusedRevoked
	refusedEnding
)

// refusal returns the reason why a context receives nothing any more. The matcher has one state for
// a communicator that was revoked and one that was freed, because a communicator that is freed here
// lives on until all members have freed theirs.
func (p *Proc) refusal(ctx uint32) uint64 {
	switch c := p.commAt(ctx / uint32(classes)); {
	case c == nil && p.match.State(ctx) == match.Revoked, c != nil && c.revoked:
		return refusedRevoked
	case c != nil && !c.freed && p.ending.refusesAnnounced(ctx):
		return refusedEnding
	}
	return refusedFreed
}

// refusalError returns the error with which a refused send ends.
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

// dropped is called for every unexpected message that the matcher gives up.
func (p *Proc) dropped(m *match.Message) {
	switch {
	case !m.Announced:
		p.letGo(m.Src, m.Size)
	case m.Src == p.me:
		if r := p.find(Handle(m.Handle)); r != nil {
			p.complete(r, refusalError(p.refusal(m.Ctx)))
		}
	default:
		p.transfers.refuse(m.Src, m.Handle, p.refusal(m.Ctx))
	}
}

// deliver copies a whole message into the receive that matched it.
func (p *Proc) deliver(r *Request, from int, h *transport.Header, payload []byte) {
	n := copy(r.buf, payload)
	r.status = Status{Proc: from, Tag: int(h.Tag), Bytes: n}
	p.end(r, judge(r.elem, len(r.buf), h.Elem, h.Size))
}

// judge returns the fault of a message of size bytes of elem for a receive, or nil.
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
		p.transfers.begin(r, m.Src, &h)
		p.match.Recycle(m)
		return
	}
	p.deliver(r, m.Src, &h, m.Data)
	p.letGo(m.Src, m.Size)
	p.match.Recycle(m)
}
