package engine

import (
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/must"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/sched"
	"github.com/goulfm/goulfm/ulfm"
)

// A Schedule is one member's part in a collective that uses messages: a plan, its memory, and the
// judgement of unexpected messages. Its messages are ordinary sends and receives (its parts); the
// goroutine that makes progress completes them and continues the plan. A Schedule may be used again
// once its request is over.
//
// Members call the collectives of a communicator in one order, so all number them alike, and the
// number is in the tag of each message. Receives compare nothing else: a member that has made
// another call, or whose call has failed, is detected by the other bits (sched.NumberBits, sched.Notice).
type Schedule struct {
	Plan *sched.Plan
	// Unit is how many bytes an element of the plan has.
	Unit int
	// Bufs are input, output and scratch, by sched.Buf.
	Bufs [3][]byte
	// Combine does a Reduce: dst = left op right, of equal lengths. dst is exactly left,
	// exactly right, or apart from both. It is called with the engine's lock held. Its
	// error ends the schedule.
	Combine func(dst, left, right []byte) error
	Elem    uint8
	// Tag identifies the call in the messages, above the sched.NumberBits.
	Tag int
	// Judge returns the fault of a part: a message of got bytes with this tag came from a rank
	// where want bytes of Tag were expected, or err happened. Nil accepts the part.
	Judge func(from, tag, want, got int, err error) error
	// Failed returns the consequence of a failure here for the others. Nil: none.
	Failed func(err error) Consequence
	// Ended, if not nil, is called when all is over, with the engine's lock held.
	Ended func()

	c        *Comm
	r        *Request
	x        sched.Exec
	parts    []*Request // under way, oldest first
	number   uint32     // of the collective
	sequence int
	blocking bool
}

// Number returns the number of the collective, as in the lower bits of the tags of its messages.
func (s *Schedule) Number() int { return s.sequence }

// A Consequence of a failed collective for the other members.
type Consequence struct {
	// Tag, if not 0, is sent to all others; with Notice.
	Tag int
	// Revoke revokes the communicator: the members cannot determine any more which of them wait for
	// which.
	Revoke bool
}

// numbered returns the tag for receives of the collective with a number.
func numbered(short int) int { return match.Loosely(short, tagMask&^shortMask) }

const (
	tagMask   = 1<<31 - 1
	shortMask = 1<<sched.NumberBits - 1
)

// StartSchedule starts a collective, and returns its handle. Errors are those of
// entry; all others are the request's.
func (c *Comm) StartSchedule(what string, s *Schedule) (Handle, error) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.called()
	r, err := c.startSchedule(what, s, false)
	if err != nil {
		return 0, err
	}
	p.loop.hurryUp()
	return r.handle(), nil
}

// RunSchedule makes a collective and returns when its memory is the program's again.
// If ctx ends first c is revoked, because the others would wait for ever.
func (c *Comm) RunSchedule(ctx context.Context, what string, s *Schedule) error {
	p := c.p
	p.mu.Lock()
	p.called()
	r, err := c.startSchedule(what, s, true)
	if err != nil {
		p.mu.Unlock()
		return err
	}
	if !r.done() {
		p.mu.Unlock()
		if err = p.leads.await(ctx, &r.own); err != nil {
			_ = c.Revoke() // refused where the request is over already
			_ = p.leads.await(context.Background(), &r.own)
		}
		p.mu.Lock()
	}
	if err == nil {
		err = r.err
	}
	p.free(r)
	p.mu.Unlock()
	return err
}

// startSchedule is StartSchedule for a caller that holds mu.
func (c *Comm) startSchedule(what string, s *Schedule, blocking bool) (*Request, error) {
	p := c.p
	if err := c.alive(); err != nil {
		return nil, err
	}
	if err := c.mayStart(context.Background(), ulfm.OpCollective, Collective, -1); err != nil {
		return nil, err
	}
	c.calls.Next()
	r := p.newRequest(scheduleRequest, c, what)
	r.peer, r.schedule = Any, s
	s.c, s.r, s.number, s.sequence, s.blocking = c, r, c.calls.Last(), sched.Short(c.calls.Last()), blocking
	c.schedules = append(c.schedules, s)
	must.That(!p.schedules.running, "a collective is started by another one")
	p.schedules.running = true
	s.x.Start(s.Plan, s)
	s.goOn()
	p.schedules.running = false
	p.schedules.run()
	return r, nil
}

// goOn starts the steps that can start, and ends s if nothing is left.
func (s *Schedule) goOn() {
	for i, ok := s.x.Next(); ok; i, ok = s.x.Next() {
		step := &s.Plan.Steps[i]
		start := s.send
		if step.Kind == sched.Recv {
			start = s.receive
		}
		if start(i, step) {
			s.x.Completed(i)
		}
	}
	if over, _ := s.x.Done(); over && s.x.Outstanding() == 0 {
		s.end()
	}
}

// Do implements sched.Host.
func (s *Schedule) Do(i int) {
	step := &s.Plan.Steps[i]
	dst, src := s.place(step.Dst, step.Len), s.place(step.Src, step.Len)
	switch {
	case step.Kind == sched.Reduce:
		s.fail(s.Combine(dst, src, s.place(step.With, step.Len)))
	case unsafe.SliceData(dst) != unsafe.SliceData(src):
		copy(dst, src)
	}
}

func (s *Schedule) place(at sched.Ref, elems int) []byte {
	return s.Bufs[at.Buf][at.Off*s.Unit : (at.Off+elems)*s.Unit]
}

// send starts a part, and reports whether it is over at once.
func (s *Schedule) send(i int, step *sched.Step) (over bool) {
	c, rank := s.c, int(step.Peer)
	to := Envelope{Rank: rank, Tag: s.Tag | s.sequence, Class: Collective, Elem: s.Elem}
	c.sendsOn = goesOn(c, s.number) && !c.p.isDead(c.group.Procs[rank])
	r, err := c.send(context.Background(), to, s.place(step.Src, step.Len), s.r.what)
	c.sendsOn = false
	if err != nil {
		s.fail(err)
		return true
	}
	if r == nil {
		return true
	}
	if s.add(i, r) {
		return true
	}
	if m := c.p.match.Probe(dataContext(c.group.Index, Collective), r.peer, match.Loosely(sched.Notice|s.sequence, tagMask&^(sched.Notice|shortMask))); m != nil {
		s.fail(s.Judge(rank, m.Tag, 0, 0, nil)) // it will not take the message
	}
	return false
}

// receive starts a part, and reports whether it is over at once.
func (s *Schedule) receive(i int, step *sched.Step) (over bool) {
	c, p, rank := s.c, s.c.p, int(step.Peer)
	if !c.quiet() && !goesOn(c, s.number) {
		if err := c.mayStart(context.Background(), ulfm.OpCollective, Collective, c.group.Procs[rank]); err != nil {
			s.fail(err)
			return true
		}
	}
	from := Envelope{Rank: rank, Tag: numbered(s.sequence), Class: Collective, Elem: s.Elem}
	r := p.newReceive(c, &from, s.place(step.Dst, step.Len), s.r.what, true)
	if m := p.match.Post(&r.Recv); m != nil {
		p.deliverKept(r, m)
	} else if p.isDead(r.peer) { // it has left, and has sent nothing for this receive
		p.match.Withdraw(&r.Recv)
		p.complete(r, ulfm.ErrProcFailed)
	}
	if s.add(i, r) {
		return true
	}
	if s.blocking && !r.receiving.HasMatched() {
		if m := p.match.Probe(r.Recv.Ctx, r.peer, Any); m != nil {
			s.heard(rank, m.Tag)
		}
	}
	return false
}

// add makes r a part unless it is over; then it takes effect at once.
func (s *Schedule) add(i int, r *Request) (over bool) {
	r.part, r.step = s, int32(i)
	if r.done() {
		s.took(r)
		return true
	}
	s.parts = append(s.parts, r)
	return false
}

// took records how a part ended, and frees it.
func (s *Schedule) took(r *Request) {
	step := &s.Plan.Steps[r.step]
	rank, tag, want, got, err := int(step.Peer), s.Tag|s.sequence, step.Len*s.Unit, step.Len*s.Unit, r.err
	if r.kind == recvRequest && (err == nil || r.matchedWrong()) {
		tag, got = r.status.Tag, r.status.Bytes
	}
	s.c.p.free(r)
	failed, _ := s.x.Done()
	switch {
	case failed:
	case ulfm.Recoverable(err):
		s.fail(err)
	case err != nil || tag != s.Tag|s.sequence || got != want:
		s.fail(s.Judge(rank, tag, want, got, err))
	}
}

// matchedWrong reports whether a receive has got a message that does not fit.
func (r *Request) matchedWrong() bool {
	return errors.Is(r.err, ErrType) || errors.Is(r.err, ErrTruncated)
}

// schedules is the service of collectives that use messages.
type schedules struct {
	p       *Proc
	over    []*Request // parts that are complete, and not yet learned of by their schedules
	unheard []unheard  // messages to handle once those have taken effect
	running bool
}

func (ss *schedules) progress() bool { return ss.run() }

// attention is asked while parts are complete.
func (ss *schedules) attention() bool { return true }

func (ss *schedules) peerDied(int) { ss.run() }

func (ss *schedules) commEnded(*Comm) { ss.run() }

func (ss *schedules) waitsFor(r *Request) ([]int, bool) {
	if r.kind != scheduleRequest {
		return nil, false
	}
	return r.schedule.waitsFor(), true
}

// run lets parts that are complete take effect. The result is true if there were any. Rules of a
// plan never re-enter themselves: parts that complete meanwhile are queued. The caller holds mu.
func (ss *schedules) run() bool {
	if len(ss.over) == 0 || ss.running {
		return false
	}
	ss.running = true
	for i := 0; i < len(ss.over); i++ {
		r := ss.over[i]
		s, step := r.part, int(r.step)
		s.parts = slices.DeleteFunc(s.parts, func(x *Request) bool { return x == r })
		s.took(r)
		s.x.Completed(step)
		s.goOn()
	}
	clear(ss.over)
	ss.over = ss.over[:0]
	ss.p.busy.set(servesSchedules, false)
	ss.running = false
	ss.hear()
	return true
}

// hear handles the messages that had to wait for parts.
func (ss *schedules) hear() {
	for len(ss.unheard) > 0 && len(ss.over) == 0 {
		u := ss.unheard[0]
		ss.unheard = slices.Delete(ss.unheard, 0, 1)
		u.c.heard(u.from, u.tag)
	}
	ss.run()
}

// partOver notes that a part is complete.
func (ss *schedules) partOver(r *Request) {
	ss.over = append(ss.over, r)
	ss.p.busy.set(servesSchedules, true)
	ss.p.leads.stir()
}

// fail ends s because of an error, as soon as its parts are over: they own its memory.
func (s *Schedule) fail(err error) {
	if over, _ := s.x.Done(); over || err == nil {
		return
	}
	s.x.Fail(err)
	for _, r := range slices.Clone(s.parts) {
		s.c.p.schedules.withdrawPart(r)
	}
	if s.Failed != nil && !ulfm.Recoverable(err) {
		s.c.suffer(s.sequence, s.Failed(err))
	}
}

// withdrawPart ends a part that has not matched. One that has completes.
func (ss *schedules) withdrawPart(r *Request) {
	switch {
	case r.done():
	case r.kind == sendRequest:
		ss.p.withdrawSendLocked(r)
	case ss.p.match.Withdraw(&r.Recv):
		ss.p.complete(r, errWithdrawn)
	}
}

// suffer applies the consequence of a failed collective to the other members.
func (c *Comm) suffer(sequence int, k Consequence) {
	p := c.p
	if k.Revoke {
		revoke(c)
	}
	if k.Tag == 0 {
		return
	}
	for rank, proc := range c.group.Procs {
		if proc == p.me {
			continue
		}
		// a member that cannot be reached is dead
		r, _ := c.send(context.Background(), Envelope{Rank: rank, Tag: sched.Notice | k.Tag | sequence, Class: Collective}, nil, "notice")
		if r != nil {
			r.detached = true
			if r.done() {
				p.free(r)
			}
		}
	}
}

// Refuse counts a collective that this member does not make because its arguments are wrong, or one
// that it has given up (again), and notifies the others.
func (c *Comm) Refuse(again bool, k Consequence) {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.alive() != nil {
		return
	}
	if !again {
		c.calls.Next()
	}
	short := sched.Short(c.calls.Last())
	c.suffer(short, k)
	c.forgetMessages(short, true)
}

// An unheard message is one that parts which are complete may explain: they take effect
// first.
type unheard struct {
	c         *Comm
	from, tag int
}

// heard handles a collective message that nothing awaits: a schedule that waits for its sender in
// vain fails.
func (c *Comm) heard(from, tag int) {
	if len(c.p.schedules.over) > 0 {
		c.p.schedules.unheard = append(c.p.schedules.unheard, unheard{c, from, tag})
		return
	}
	for _, s := range slices.Clone(c.schedules) {
		s.heard(from, tag)
	}
}

func (s *Schedule) heard(from, tag int) {
	n := sched.ShortOf(tag)
	switch {
	case n == s.sequence && tag&sched.Notice != 0 && s.has(sendRequest, from):
		// The sender will not take the messages for it.
	case s.blocking && sched.IsLater(n, s.sequence) && s.has(recvRequest, from):
		// The sender's call with this number is over, and all its messages have come before.
	default:
		return
	}
	s.fail(s.Judge(from, tag, 0, 0, nil))
}

// has reports whether a part of a kind waits for a rank.
func (s *Schedule) has(kind reqKind, rank int) bool {
	proc := s.c.group.Procs[rank]
	return slices.ContainsFunc(s.parts, func(r *Request) bool {
		return r.kind == kind && r.peer == proc && !r.done() && !r.receiving.HasMatched() && !r.sending.HasMatched()
	})
}

// end ends the request of s.
func (s *Schedule) end() {
	c, p, r := s.c, s.c.p, s.r
	_, err := s.x.Done()
	c.schedules = slices.DeleteFunc(c.schedules, func(x *Schedule) bool { return x == s })
	c.forgetMessages(s.sequence, err != nil)
	s.c, s.r = nil, nil
	r.schedule = nil
	p.complete(r, err)
	if s.Ended != nil {
		s.Ended()
	}
}

// forgetMessages drops the messages of a collective that is over here: notices, and after a failure
// data, too, except announced messages, which the sender takes back. Later messages are dropped
// when they come.
func (c *Comm) forgetMessages(sequence int, failed bool) {
	p := c.p
	c.calls.End(sequence, failed)
	ctx := dataContext(c.group.Index, Collective)
	if !p.match.Accepts(ctx) || p.match.Unexpected(ctx) == 0 {
		return
	}
	p.match.Discard(ctx, func(m *match.Message) bool {
		return sched.ShortOf(m.Tag) == sequence && (m.Tag&sched.Notice != 0 || failed && !m.Announced)
	}, p.dropped)
}

// late reports whether a message is of a collective that is over here.
func (c *Comm) late(tag int) bool {
	return c.calls.IsOver(tag, func(short int) bool {
		return slices.ContainsFunc(c.schedules, func(s *Schedule) bool { return s.sequence == short })
	})
}

// awaited returns the part to poll first, or nil.
func (s *Schedule) awaited() *Request {
	for _, r := range s.parts {
		if r.kind == recvRequest && !r.done() {
			return r
		}
	}
	if len(s.parts) > 0 {
		return s.parts[0]
	}
	return nil
}

// waitsFor returns the ranks that s waits for: the awaited senders, or if there are none the
// receivers that have not taken their messages.
func (s *Schedule) waitsFor() []int {
	for _, kind := range []reqKind{recvRequest, sendRequest} {
		var ranks []int
		for _, r := range s.parts {
			if r.kind == kind && !r.done() {
				ranks = append(ranks, s.c.RankOf(r.peer))
			}
		}
		if len(ranks) > 0 {
			slices.Sort(ranks)
			return slices.Compact(ranks)
		}
	}
	return nil
}
