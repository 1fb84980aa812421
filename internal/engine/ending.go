package engine

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/ulfm"
)

// An ending is the progress of Finalize. A Finalize that is interrupted by its context keeps its
// place in the agreement, and the next call continues from there: members propose once.
type ending struct {
	p          *Proc
	first      *Comm    // the world that this process has begun with
	sawLeaver  bool     // it ended here because another process had left
	call       *Request // the agreement; nil: not proposed yet
	parting    *Request // the wait for processes of other nodes to let go; else nil
	busy       bool     // a call of Finalize is under way
	ended      bool     // nothing is left to do
	unreceived unreceived
	lasts      []last // notices to members in other worlds, sent before this process leaves
}

// Finalize ends by an agreement of all live members, also if members fail meanwhile; only then has
// this process left. If ctx ends first, only the wait is given up, and Finalize may be called
// again. The same holds after ErrMismatch: other members are in other calls that wait for this one.
func (p *Proc) Finalize(ctx context.Context) error {
	r, err := p.ending.begin()
	if err != nil {
		return err
	}
	err = p.ending.finish(ctx, r)
	p.mu.Lock()
	p.ending.busy, p.ending.ended = false, err == nil
	p.mu.Unlock()
	return err
}

func (e *ending) begin() (*Request, error) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	switch { // checked with the lock held: nothing ends an operation that is started after a fence
	case e.p.fenced.Load():
		return nil, ErrFenced
	case e.ended:
		return nil, ErrFinalized
	case e.busy:
		return nil, fmt.Errorf("%w: Finalize is under way in another goroutine", ErrUnsupported)
	case e.call == nil:
		for _, c := range e.p.live { // control takes part in agreements on them
			c.adoptPlain()
			if c.mem != nil {
				e.p.memory.open(c)
			}
		}
		e.call = e.p.propose(e.p.world, commstate.Call{Kind: commstate.KindFinalize}, Contribution{}, "finalize")
		e.p.world.closing = true
		e.lasts = e.p.lasts()
		e.refuseAnnounced()
		e.p.progress()
	}
	e.busy = true
	return e.call, nil
}

func (e *ending) finish(ctx context.Context, r *Request) error {
	if e.p.finalized.Load() { // only the last poll was given up
		return e.lastPoll(ctx)
	}
	if err := e.p.leads.await(ctx, &r.own); err != nil {
		e.p.mu.Lock()
		defer e.p.mu.Unlock()
		return &ulfm.Error{Ranks: e.p.waitsFor(r), Err: err}
	}
	if e.p.fenced.Load() {
		return ErrFenced
	}
	if r.err != nil {
		return e.stayOn(r)
	}
	e.tellLasts()
	if err := e.p.links.flush(ctx); err != nil {
		return err
	}
	e.p.mu.Lock()
	e.p.finalized.Store(true)
	e.p.endRequests(ErrFinalized)
	e.p.mu.Unlock()
	if pausepoint.Enabled {
		pausepoint.At("engine.leaves")
	}
	e.p.node.SetLeft()
	e.p.node.MoveEpoch()
	return e.lastPoll(ctx)
}

// stayOn undoes a Finalize that has ended with an error, and returns that error.
func (e *ending) stayOn(r *Request) error {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	err := r.err
	e.p.free(r)
	e.p.ending.call, e.p.world.closing = nil, false
	return err
}

// noticeLeavers ends an open finalize once somebody has returned from it. The check comes after the
// control frames. A member that received the decision forwards it. A member that only saw that
// another has left cannot, and wakes everybody instead.
func (e *ending) noticeLeavers() {
	if !e.p.world.closing || e.sawLeaver {
		return
	}
	for _, q := range e.p.world.group.Procs {
		if q != e.p.me && e.p.node.HasLeft(q) {
			e.sawLeaver = true
			e.p.rules.step(control.Left{Proc: q})
			return
		}
	}
}

// lastPoll wakes members that nobody else wakes, and answers members that asked for the decision
// before they could see that this process has left. Without lastPoll a member could sleep for ever:
// q's parent dies, q asks this process, finds that it has not left, and sleeps; this process polled
// before q asked, and leaves; nobody wakes q. The mark is set before the poll, and q checks the
// mark after it has asked: at least one of them sees the other.
func (e *ending) lastPoll(ctx context.Context) error {
	e.p.mu.Lock()
	if e.sawLeaver {
		e.p.notifyMembers(e.p.world)
	}
	e.p.progress()
	e.p.mu.Unlock()
	if err := e.p.links.flush(ctx); err != nil {
		return err
	}
	return e.p.others.part(ctx)
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

// refuseAnnounced refuses the senders of messages that are announced and not received, because this
// process is in Finalize: they would wait for ever, and Finalize waits for them. Those that are
// announced later are refused as they come.
func (e *ending) refuseAnnounced() {
	for _, c := range e.p.live {
		e.p.match.Discard(dataContext(c.group.Index, PointToPoint), func(m *match.Message) bool {
			return m.Announced && !e.p.lost(m)
		}, func(m *match.Message) {
			e.p.ending.unreceived.note(c, m.Src, m.Tag)
			e.p.dropped(m)
		})
	}
}

// refusesAnnounced reports whether a message that is announced on a context, and that nothing has
// matched, is refused because this process is in Finalize.
func (e *ending) refusesAnnounced(ctx uint32) bool {
	return e.p.world.closing && Class(ctx%uint32(classes)) == PointToPoint
}

// errEnding ends a send whose receiver is in Finalize.
var errEnding = fmt.Errorf("%w: the receiver is in Finalize and has not received the message", ErrFinalized)

// reportUnreceived reports messages that have come and were not received, except those from the
// dead, and those on communicators that were revoked or freed: there nobody could receive them.
func (e *ending) reportUnreceived() {
	u := &e.p.ending.unreceived
	e.p.links.drainArrived() // messages sent before their sender came to Finalize
	for _, c := range e.p.live {
		e.p.match.EachUnexpected(dataContext(c.group.Index, PointToPoint), func(m *match.Message) {
			if !e.p.isDead(m.Src) {
				u.note(c, m.Src, m.Tag)
			}
		})
	}
	if u.count == 0 || e.p.cfg.OnUnreceived == nil {
		return
	}
	text := "1 message was never received, from"
	if u.count > 1 {
		text = fmt.Sprintf("%d messages were never received, the first from", u.count)
	}
	e.p.cfg.OnUnreceived(fmt.Sprintf("%s rank %d of %s with tag %d", text, u.rank, u.comm.Name(), u.tag))
}
