package engine

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/match"
	"github.com/goulfm/goulfm/internal/member"
	"github.com/goulfm/goulfm/ulfm"
)

// An ending is how far Finalize has come. One whose context ends keeps its place in
// the agreement, and the next call goes on from there: members propose it once.
type ending struct {
	call       *Request // the agreement; nil: not proposed yet
	busy       bool     // a call of Finalize is under way
	ended      bool     // nothing is left to do
	unreceived unreceived
}

// Finalize ends by an agreement of all live members, whatever fails meanwhile;
// only then has this process left. When ctx ends first only the wait is given up: it
// may be called again. So it may after ErrMismatch: other members are in other calls that
// wait for this one.
func (p *Proc) Finalize(ctx context.Context) error {
	r, err := p.beginEnding()
	if err != nil {
		return err
	}
	err = p.finishEnding(ctx, r)
	p.mu.Lock()
	p.ending.busy, p.ending.ended = false, err == nil
	p.mu.Unlock()
	return err
}

func (p *Proc) beginEnding() (*Request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &p.ending
	switch { // asked with the lock held: nothing ends what is begun after a fence
	case p.fenced.Load():
		return nil, ErrFenced
	case e.ended:
		return nil, ErrFinalized
	case e.busy:
		return nil, fmt.Errorf("%w: Finalize is under way in another goroutine", ErrUnsupported)
	case e.call == nil:
		for _, c := range p.live { // control takes part in agreements on them
			c.adoptPlain()
			if c.mem != nil {
				p.openMemory(c)
			}
		}
		e.call = p.propose(p.world, member.Call{Kind: member.KindFinalize}, Contribution{}, "finalize")
		p.world.closing = true
		p.refuseAnnounced()
		p.progress()
	}
	e.busy = true
	return e.call, nil
}

func (p *Proc) finishEnding(ctx context.Context, r *Request) error {
	if p.finalized.Load() { // only the last look was given up
		return p.lastLook(ctx)
	}
	if err := p.await(ctx, &r.own); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		return &ulfm.Error{Ranks: p.waitsFor(r), Err: err}
	}
	if p.fenced.Load() {
		return ErrFenced
	}
	if r.err != nil {
		return p.stayOn(r)
	}
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	p.finalized.Store(true)
	p.endRequests(ErrFinalized)
	p.mu.Unlock()
	p.node.SetLeft()
	p.node.MoveEpoch()
	return p.lastLook(ctx)
}

// stayOn undoes what a Finalize has begun that has ended with an error, which it returns.
func (p *Proc) stayOn(r *Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := r.err
	p.free(r)
	p.ending.call, p.world.closing = nil, false
	return err
}

// noticeLeavers ends an open finalize once somebody has returned from it. It
// looks after the control frames: whoever got the decision passes it on; whoever
// only saw that another has left cannot, and wakes everybody instead.
func (p *Proc) noticeLeavers() {
	if !p.world.closing || p.sawLeaver {
		return
	}
	for _, q := range p.world.group.Procs {
		if q != p.me && p.node.HasLeft(q) {
			p.sawLeaver = true
			p.step(control.Left{Proc: q})
			return
		}
	}
}

// lastLook wakes whom nobody else wakes, and answers who asked for the decision before it could see that this
// process has left. Without it: q's parent dies, q asks this process, finds that
// it has not left, and sleeps; this process has looked before q asked, and leaves;
// nobody wakes q. The mark is set before the look, and q looks for the mark after
// it has asked: one of both sees the other.
func (p *Proc) lastLook(ctx context.Context) error {
	p.mu.Lock()
	if p.sawLeaver {
		p.notifyMembers(p.world)
	}
	p.progress()
	p.mu.Unlock()
	return p.flush(ctx)
}

// unreceived are the messages that came and that nobody has received.
type unreceived struct {
	count     int
	comm      *Comm // of the first one
	rank, tag int
}

func (u *unreceived) note(c *Comm, proc, tag int) {
	if u.count++; u.count == 1 {
		u.comm, u.rank, u.tag = c, c.RankOf(proc), tag
	}
}

// refuseAnnounced tells the senders of messages that are announced and not received that this
// process is in Finalize: they would wait for ever, and Finalize waits for them. Those that
// are announced later are refused as they come.
func (p *Proc) refuseAnnounced() {
	for _, c := range p.live {
		p.match.Discard(dataContext(c.group.Index, PointToPoint), func(m *match.Message) bool {
			return m.Announced && !p.lost(m)
		}, func(m *match.Message) {
			p.ending.unreceived.note(c, m.Src, m.Tag)
			p.dropped(m)
		})
	}
}

// refusesAnnounced says whether a message that is announced on a context, and that nothing
// has matched, is refused because this process is in Finalize.
func (p *Proc) refusesAnnounced(ctx uint32) bool {
	return p.world.closing && Class(ctx%uint32(classes)) == PointToPoint
}

// errEnding ends a send whose receiver is in Finalize.
var errEnding = fmt.Errorf("%w: the receiver is in Finalize and has not received the message", ErrFinalized)

// reportUnreceived tells of what has come and was not received, except from the dead, and on
// communicators that were revoked or freed: there nobody could receive it.
func (p *Proc) reportUnreceived() {
	u := &p.ending.unreceived
	for _, q := range p.world.group.Procs {
		if q != p.me && !p.peers[q].dead {
			p.drain(q) // what was sent before its sender came to Finalize
		}
	}
	for _, c := range p.live {
		p.match.EachUnexpected(dataContext(c.group.Index, PointToPoint), func(m *match.Message) {
			if !p.peers[m.Src].dead {
				u.note(c, m.Src, m.Tag)
			}
		})
	}
	if u.count == 0 || p.cfg.OnUnreceived == nil {
		return
	}
	text := "1 message was never received, from"
	if u.count > 1 {
		text = fmt.Sprintf("%d messages were never received, the first from", u.count)
	}
	p.cfg.OnUnreceived(fmt.Sprintf("%s rank %d of %s with tag %d", text, u.rank, u.comm.Name(), u.tag))
}
