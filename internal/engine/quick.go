package engine

import (
	"context"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/net/transport"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// pollEvery is the number of calls after which a call makes progress: calls that wait for nothing
// would otherwise never learn of a revocation, and the background loop leaves the lead to a program
// that makes calls.
const pollEvery = 512

// called counts a call, and now and then makes progress. The caller holds mu.
func (p *Proc) called() {
	if p.calls++; p.calls%pollEvery == 0 {
		p.pollAround()
	}
}

// pollAround reports that the program is alive, and lets all that has arrived take effect. The
// caller holds mu.
func (p *Proc) pollAround() {
	if p.cfg.Alive != nil {
		p.cfg.Alive()
	}
	if !p.fenced.Load() && !p.finalized.Load() {
		p.progress()
	}
}

// quiet reports whether nothing known here could refuse an operation on c, and no news of
// departures waits: then it starts without asking the rules. The caller holds mu.
func (c *Comm) quiet() bool {
	p := c.p
	return c.gone.IsWhole() && !c.revoked && !c.freed && !p.fenced.Load() && !p.finalized.Load() &&
		p.node.Epoch() == p.epochSeen.Load()
}

// recvNow receives the next message in its sender's ring, now or after some polls, straight from
// the ring: without the queues, and without a request unless the message is large; then it returns
// the request with which the receive continues. It returns ok false in all other cases: the long
// path does the rest. The caller holds mu, and does again afterwards.
func (c *Comm) recvNow(ctx context.Context, from *Envelope, buf []byte, st *Status) (r *Request, err error, ok bool) {
	p := c.p
	if from.Rank == Any || !c.quiet() {
		return nil, nil, false
	}
	proc := c.group.Procs[from.Rank]
	if p.near(proc) == nil || proc == p.me || !p.match.Idle(dataContext(c.group.Index, from.Class), proc) || ctx.Err() != nil {
		return nil, nil, false
	}
	answer := p.awaitAnswer(proc)
	if r, err, ok := c.takeNext(proc, from, buf, st); ok {
		if answer != nil {
			answer.Found()
		}
		return r, err, true
	}
	word, want := p.port.Watch(proc)
	if word == nil {
		return nil, nil, false
	}
	// The message may have come since takeNext polled. If it has not when the lock is released,
	// conditions that hold now may not hold any more.
	looks, here := p.leads.pollKeenly(word, min(segment.Load64(word), want-1), proc)
	if !here {
		if !p.leads.take(caller) {
			return nil, nil, false
		}
		looks, here = p.leads.watchNext(ctx, proc, word, want, looks)
		p.leads.leaveLocked()
		here = here && c.quiet() && p.match.Idle(dataContext(c.group.Index, from.Class), proc)
	}
	if !here {
		return nil, nil, false
	}
	// a message that is there, but not the requested one, does not count
	if answer != nil && looks > 1 {
		answer.Missed(looks)
	}
	return c.takeNext(proc, from, buf, st)
}

// awaitAnswer waits for the usual response time of a process to which something was sent, and
// returns the record for the result; nil: the next message is no answer.
func (p *Proc) awaitAnswer(proc int) *park.Patience {
	q := p.peers.At(proc)
	if !q.asked || p.cfg.YieldPolls > 0 {
		return nil
	}
	q.asked = false
	if n := q.patience.Pauses(); n > 0 {
		park.Pause(n)
	}
	return &q.patience
}

// keenPollsMax is how often a call polls without a pause in between, and without releasing the
// lock: mostly the awaited word changes at once, and a pause or a release takes as long as a tenth
// of a message.
const keenPollsMax = 128

// pollKeenly polls until a word is not stale any more, something needs attention that does not come
// from the process except, or it has polled often enough. The caller holds mu.
//
// Between two polls it does more than necessary. Polling again at once steals the cache line from
// its writer: a message takes a fifth longer then.
func (ld *leadership) pollKeenly(word *uint64, stale uint64, except int) (looks int, moved bool) {
	p := ld.p
	if p.cfg.YieldPolls > 0 {
		return 0, false
	}
	for keen := min(keenPollsMax, p.cfg.SpinPolls); looks < keen; {
		looks++
		if segment.Load64(word) != stale {
			return looks, true
		}
		if p.node.Epoch() != p.epochSeen.Load() || looks&15 == 0 && ld.isAsked(looks, except) {
			break
		}
	}
	return looks, false
}

// overNow reports whether none of the requests need be waited for, once the frames of their senders
// have taken effect, now or after some polls. If one request has failed the result is false: others
// may be under way that nobody waits for (C1). The caller holds mu.
func (p *Proc) overNow(hs []Handle) bool {
	for _, h := range hs {
		r := p.named(h)
		if r == nil {
			continue
		}
		for !r.done() {
			if !p.takeFor(r) {
				return false
			}
		}
		if r.err != nil {
			return false
		}
	}
	return true
}

// takeFor handles frames, now or after some polls, from the source that a receive names. False:
// nothing has come, or r waits for something else. The caller holds mu.
func (p *Proc) takeFor(r *Request) bool {
	if r.kind != recvRequest || r.receiving.HasMatched() || r.peer < 0 || r.peer == p.me || p.near(r.peer) == nil || p.fenced.Load() {
		return false
	}
	proc := r.peer
	if !p.drain(proc) {
		word, want := p.port.Watch(proc)
		if word == nil {
			return false
		}
		if _, here := p.leads.pollKeenly(word, min(segment.Load64(word), want-1), proc); !here || !p.drain(proc) {
			return false
		}
	}
	p.schedules.run()
	return true
}

// watchNext leads, without mu, until word shows the next frame of a process, anything else needs
// attention, or it has polled often enough.
func (ld *leadership) watchNext(ctx context.Context, proc int, word *uint64, want uint64, looked int) (looks int, here bool) {
	looks = looked
	cancelled, kept, epoch := ld.watch.Of(ctx), ld.p.kept.Load(), ld.p.epochSeen.Load()
	ld.p.mu.Unlock()
	for most := ld.spin.Polls(); looks < most; {
		looks++
		// >=: another goroutine may have taken the frame, and its cell been used again.
		if here = atomic.LoadUint64(word) >= want; here || ld.p.node.Epoch() != epoch {
			break
		}
		if looks&15 == 0 && (ld.isAsked(looks, proc) || ld.p.kept.Load() != kept || cancelled != nil && cancelled.Load()) {
			break
		}
		park.Pause(1)
	}
	ld.p.mu.Lock()
	if here {
		ld.learn(looks, false)
	}
	return looks, here
}

// takeNext receives the next frame of a process if it is a message that matches, or
// announces one; the caller has made sure that no other receive or message comes first.
func (c *Comm) takeNext(proc int, from *Envelope, buf []byte, st *Status) (r *Request, err error, ok bool) {
	p := c.p
	if l, payload, ok := p.port.NextInline(proc); ok {
		if l.Ctx != dataContext(c.group.Index, from.Class) || from.Tag != Any && from.Tag != int(l.Tag) {
			return nil, nil, false
		}
		*st = Status{Proc: proc, Tag: int(l.Tag), Bytes: copy(buf, payload)}
		p.port.AdvanceInline(proc)
		p.letGo(proc, len(payload))
		return nil, judge(from.Elem, len(buf), l.Elem, len(payload)), true
	}
	var f transport.Frame
	if !p.port.Next(proc, &f) || f.Kind == transport.Chunk || f.Ctx != dataContext(c.group.Index, from.Class) || from.Tag != Any && from.Tag != int(f.Tag) {
		return nil, nil, false
	}
	if f.Kind == transport.Announce {
		h := f.Header
		p.port.Advance(proc)
		if p.transfers.isTakenBack(proc, h.Handle) {
			return nil, nil, false
		}
		r := p.newReceive(c, from, buf, "recv", true)
		p.transfers.begin(r, proc, &h)
		return r, nil, true
	}
	*st = Status{Proc: proc, Tag: int(f.Tag), Bytes: copy(buf, f.Payload)}
	p.port.Advance(proc)
	p.letGo(proc, f.Size)
	return nil, judge(from.Elem, len(buf), f.Elem, f.Size), true
}
