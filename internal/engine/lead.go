package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/mono"
	"github.com/goulfm/goulfm/internal/park"
	"github.com/goulfm/goulfm/internal/publish"
)

// A group is what one call waits for: one request, all that are named, or any.
type group struct {
	one    *Request
	many   []*Request
	any    bool
	next   int           // many, all: those before are complete without an error
	faults uint64        // many, all: of the process, when the ones behind were looked at
	wake   chan struct{} // not nil once it follows
}

func (g *group) ready(p *Proc) bool {
	switch {
	case g.one != nil:
		return g.one.settled()
	case g.any:
		return g.anyReady()
	}
	for g.next < len(g.many) {
		if r := g.many[g.next]; r != nil {
			if !r.settled() {
				return g.failed(p)
			}
			if r.pending() || r.err != nil {
				return true
			}
		}
		g.next++
	}
	return true
}

// failed says whether one of the others has failed: an error ends a wait for all,
// too, because waiting on might not help (C1, R52).
func (g *group) failed(p *Proc) bool {
	now := p.faults.Load()
	if now == g.faults {
		return false
	}
	for _, r := range g.many[g.next:] {
		if r != nil && r.settled() && (r.pending() || r.err != nil) {
			return true
		}
	}
	g.faults = now
	return false
}

func (g *group) anyReady() bool {
	some := false
	for _, r := range g.many {
		if r == nil {
			continue
		}
		some = true
		if r.settled() {
			return true
		}
	}
	return !some
}

// awaited returns the request to look at first, or nil.
func (g *group) awaited() *Request {
	switch {
	case g.one != nil:
		return g.one
	case !g.any && g.next < len(g.many):
		return g.many[g.next]
	}
	return nil
}

func (g *group) signal() {
	if g.wake == nil {
		return
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// await returns when g is ready, or ctx is over. The caller does not hold mu.
func (p *Proc) await(ctx context.Context, g *group) error {
	if g.ready(p) {
		return nil
	}
	p.mu.Lock()
	for !p.takeLead(caller) {
		if over, err := p.follow(ctx, g); over {
			p.mu.Unlock()
			return err
		}
	}
	err := p.leadUntil(ctx, g)
	p.leave()
	return err
}

// takeLead says whether nobody led, and who asks does now. The caller holds mu.
func (p *Proc) takeLead(who leader) bool {
	if p.lead != nobody {
		return false
	}
	p.lead = who
	return true
}

// leading is what the one leader waits for. It lives in Proc, because a local one
// would move to the heap with every call that waits.
type leading struct {
	g         *group
	src       int     // peer whose ring is polled directly; -1: none
	near      bool    // word is of a ring or of a transfer: what to do when it moves is known
	word      *uint64 // in that ring: the next cell's; or of a transfer, or in memory; nil: there is none
	want      uint64  // its value, or one less, when there is something to do
	stale     bool    // no: want is its value as long as there is nothing to do
	again     bool    // a transfer is under way: look at once
	yields    int     // how often to give the turn to others before sleeping
	sleep     mono.Duration
	cancelled *atomic.Bool
}

// leadUntil runs progress until g is ready. The caller has taken the lead, and holds mu,
// which is given back.
func (p *Proc) leadUntil(ctx context.Context, g *group) error {
	l := &p.leading
	*l = leading{g: g, src: -1, cancelled: p.watchContext(ctx)}
	p.lookLocked()
	p.mu.Unlock()
	polls, slept := 0, false
	for ; !g.ready(p); polls++ {
		spun := polls >= p.spin.Looks() || l.yields > 0
		switch {
		case l.cancelled != nil && l.cancelled.Load():
			return ctx.Err()
		case l.near && p.moved():
			p.mu.Lock()
			if p.lookCloser() {
				polls = -1
			}
			p.mu.Unlock()
		case p.moved() || l.again || p.node.Epoch() != p.epochSeen.Load() ||
			(spun || polls&15 == 15) && p.link.Pending(l.src) ||
			!spun && polls&15 == 15 && (p.transfers.Load() > 0 || p.partsWait.Load() || p.openCount.Load() > 0 && !l.stale):
			if p.look() {
				polls = -1
			}
		case !spun:
			if polls >= keenLooksMax {
				park.Pause(1)
			}
		case polls < l.yields:
			p.node.Yield()
		default:
			p.look()
			p.sleep(park.Caller, p.leaderReady, l.sleep)
			p.look()
			polls, slept = -1, true
		}
	}
	p.learn(polls, slept)
	return nil
}

// learn notes how a wait that looks before it sleeps has ended. The caller leads.
func (p *Proc) learn(looks int, slept bool) {
	switch {
	case !p.cfg.LearnSpin:
	case slept:
		p.spin.Slept()
	default:
		p.spin.Found(looks)
	}
}

// look lets everything that has arrived take effect, and finds out what to poll
// next. It says whether anything happened.
func (p *Proc) look() bool {
	p.mu.Lock()
	did := p.lookLocked()
	p.mu.Unlock()
	return did
}

// lookLocked is look for a caller that holds mu.
func (p *Proc) lookLocked() bool {
	did := p.progress()
	p.leading.again = did && p.transfers.Load() > 0
	return p.lookCloser() || did
}

// lookCloser handles what has come from the peer that is waited for, and finds out
// what to poll next. The caller holds mu.
func (p *Proc) lookCloser() bool {
	l := &p.leading
	did := false
	for {
		r := l.g.awaited()
		l.src, l.near, l.word, l.stale, l.yields, l.sleep = -1, false, nil, false, 0, -1
		if r == nil {
			return did
		}
		if r.memory != nil {
			l.word, l.want, l.stale, l.yields = r.memory.awaits, r.memory.stale, true, p.cfg.YieldPolls
			return did
		}
		if r.kind == collectiveRequest {
			if r == r.comm.collective {
				l.word, l.want = r.comm.coll.Awaits()
				l.stale, l.yields, l.again = true, p.cfg.YieldPolls, l.word == nil
				l.sleep = mismatchLook
			}
			return did
		}
		if r.kind == scheduleRequest {
			if p.port != nil {
				l.yields = p.cfg.YieldPolls
			}
			if r = p.nextPart(r); r == nil {
				return did
			}
		}
		if r.kind != recvRequest || r.matched || r.peer < 0 || r.peer == p.me {
			if p.transfers.Load() == 0 || r.done() {
				return did
			}
			if p.stepTransfer(r) {
				p.runSchedules()
				did = true
				continue
			}
			l.word, l.want = r.watchTransfer()
			l.near = l.word != nil
			return did
		}
		l.src, l.near = r.peer, true
		if !p.drain(l.src) {
			l.word, l.want = p.link.Watch(l.src)
			return did
		}
		p.runSchedules()
		did = true
		if l.g.ready(p) {
			return true
		}
	}
}

// nextPart returns what to look at of a collective by messages, or nil.
func (p *Proc) nextPart(r *Request) *Request {
	p.runSchedules()
	if r.done() {
		return nil
	}
	return r.schedule.awaited()
}

// moved says whether the awaited cell is there, or the awaited step of a transfer.
// The receiver of a message may take two steps at a time.
func (p *Proc) moved() bool {
	l := &p.leading
	if l.word == nil {
		return false
	}
	if v := atomic.LoadUint64(l.word); l.stale {
		return v != l.want
	} else {
		return v-l.want <= 1
	}
}

// leaderMustLook is the last question before the leader sleeps. It takes mu, because who
// ends a request does not wait until others see that before it looks whether the leader
// is asleep: either that was before, under mu, and is seen here, or it is later, and sees
// that the leader sleeps.
func (p *Proc) leaderMustLook() bool {
	l := &p.leading
	p.fenceOthers()
	p.mu.Lock()
	ready := l.g.ready(p)
	p.mu.Unlock()
	return ready || p.moved() || p.link.Pending(-1) || p.node.Epoch() != p.epochSeen.Load() || p.transferMoved() || p.partsWait.Load() || p.memoryMoved() ||
		l.cancelled != nil && l.cancelled.Load()
}

// leave gives the lead up and hands it to a follower. It does not stir the
// background loop: right after a death every thread that wakes delays others.
func (p *Proc) leave() {
	p.mu.Lock()
	p.leaveLocked()
	p.mu.Unlock()
}

// leaveLocked is leave for a caller that holds mu.
func (p *Proc) leaveLocked() {
	p.lead = nobody
	p.offerLead()
}

// offerLead wakes a follower to take the lead, if nobody leads. The caller holds mu.
func (p *Proc) offerLead() {
	if p.lead == nobody && len(p.followers) > 0 {
		p.followers[0].signal()
	}
}

// follow waits until the leader has ended what g waits for, ctx is over, or the lead is free.
// over says that the caller waits no longer; else it is to take the lead, if nobody else has.
// Somebody leads; the caller holds mu, and does again afterwards.
//
// The lead may have been offered to this follower whatever it woke for, and an offer is made
// once. So a follower that waits no longer passes it on, before it gives mu back. Else nobody
// leads while others sleep, and the background loop stands back for them:
//
//	leader             follower 1           follower 2
//	                   its ctx ends
//	leaves, wakes 1
//	                   returns ctx's error  sleeps until some other call is made
func (p *Proc) follow(ctx context.Context, g *group) (over bool, err error) {
	if g.wake == nil {
		g.wake = make(chan struct{}, 1)
	}
	p.attach(g, g)
	p.followers = append(p.followers, g)
	p.wanted.Add(1)
	inBackground, ready := p.lead == background, g.ready(p)
	p.mu.Unlock()
	if inBackground {
		p.node.Notify(p.me, park.Background)
	}
	if !ready {
		select {
		case <-g.wake:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mu.Lock()
	p.attach(g, nil)
	p.followers = slices.DeleteFunc(p.followers, func(f *group) bool { return f == g })
	p.wanted.Add(-1)
	if g.ready(p) {
		over, err = true, nil
	}
	if over = over || err != nil; over {
		p.offerLead()
	}
	return over, err
}

func (p *Proc) attach(g, to *group) {
	if g.one != nil {
		g.one.waiter = to
	}
	for _, r := range g.many {
		if r != nil {
			r.waiter = to
		}
	}
}

// stirLeader wakes the leader if it sleeps: another goroutine has completed
// something that it may wait for.
func (p *Proc) stirLeader() {
	if p.asleep.Load() {
		p.node.Notify(p.me, park.Caller|park.Background)
	}
}

// ctxWatch is the one watcher of the context on which the leader waits; it is
// kept for the next leader with the same context, so a call that waits does not
// make one each time.
type ctxWatch struct {
	done  <-chan struct{}
	fired *atomic.Bool
	stop  func() bool
}

// watchContext returns a word that becomes true when ctx is over; nil: never.
// Only the leader calls it.
func (p *Proc) watchContext(ctx context.Context) *atomic.Bool {
	done := ctx.Done()
	if done == nil {
		return nil
	}
	if p.watch.done != done {
		if p.watch.stop != nil {
			p.watch.stop()
		}
		fired := new(atomic.Bool)
		p.watch = ctxWatch{done: done, fired: fired, stop: context.AfterFunc(ctx, func() {
			fired.Store(true)
			p.node.Notify(p.me, park.Caller|park.Background)
		})}
	}
	return p.watch.fired
}

// fenceOthers is for who has said that it sleeps, and is about to look for the last time. Where
// each rank has a core the members of a collective in memory do not fence what they publish
// from the look at who sleeps, because hardly ever somebody does:
//
//	member                  who is about to sleep
//	publishes its line
//	sees nobody asleep
//	                        says that it sleeps
//	                        does not see the line: it is on its way
//
// So the fence of all of them is made here. Where ranks share cores sleep is what most of
// them do, and members fence.
func (p *Proc) fenceOthers() {
	if p.othersUnfenced && p.openCount.Load() > 0 && !publish.FenceAll() {
		park.Pause(awayPauses)
	}
}

// awayPauses are, for a process that the kernel forbids to make a FenceAll, 10 to 50
// microseconds: some times what a line is on its way. Nor does it sleep for longer than
// mismatchLook then.
const awayPauses = 512

// sleep sleeps until there is something to do, or for so long; negative: for ever.
func (p *Proc) sleep(flag uint32, mustLook func() bool, most mono.Duration) {
	if most < 0 && p.othersUnfenced && p.openCount.Load() > 0 {
		most = mismatchLook
	}
	if p.transfers.Load() > 0 && p.waitsForEnd() {
		most = endLook
	}
	p.asleep.Store(true)
	p.node.Sleep(flag, mustLook, most)
	p.asleep.Store(false)
}

// mismatchLook is after how long a sleeping member of a collective looks whether
// another has made another call: nobody is woken for that.
const mismatchLook = 100 * mono.Millisecond

// endLook is after how long a process looks whether a dead sender has been reaped: the
// launcher wakes nobody for that. It is rare that a sender dies while it copies.
const endLook = 200 * mono.Microsecond

// waitsForEnd says whether a receive waits until no thread of its dead sender is left.
func (p *Proc) waitsForEnd() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.pulls, func(r *Request) bool { return r.pull.err != nil && p.peers[r.peer].dead })
}

// tickMax is how much longer a tick may get while a call waits: the background
// loop has nothing to do then, and 64 ranks of a job wait at the same time.
const tickMax = 8

// background leads while the program computes: when no call was made for a tick
// it takes the lead and sleeps until something arrives that cannot wait.
//
// A tick costs its processor some 25 us, for the most part in the runtime, and where
// ranks share one each waits for those of all others: with 32 of them on a core, a third
// of the time of a collective. So a rank that makes calls, with nothing under way beside
// them, looks as much more seldom as there are ranks for a core, until something is.
func (p *Proc) background() {
	defer close(p.loopEnded)
	tick := p.cfg.Tick
	timer := time.NewTimer(tick)
	defer timer.Stop()
	var seen uint64
	for {
		select {
		case <-p.stop:
			return
		case <-p.hurry:
			tick = p.cfg.Tick
			timer.Reset(tick)
			continue
		case <-timer.C:
		}
		if p.cfg.Alive != nil {
			p.cfg.Alive()
		}
		if p.cfg.OnTick != nil {
			p.cfg.OnTick()
		}
		var leads bool
		tick, leads = p.nextTick(tick, &seen)
		if leads {
			p.leadInBackground()
			p.leave()
		}
		timer.Reset(tick)
	}
}

// nextTick returns how long the background loop may wait after a tick of that length,
// and whether it leads now, because no call has been made since the one before, nor
// waits. seen is how many calls there had been then. What is started from now on finds
// out whether it has to hurry the loop.
func (p *Proc) nextTick(tick time.Duration, seen *uint64) (next time.Duration, leads bool) {
	if !p.mu.TryLock() {
		return p.cfg.Tick, false // somebody makes a call right now
	}
	defer p.mu.Unlock()
	calls := p.calls != *seen
	*seen = p.calls
	crowd := time.Duration(p.cfg.Crowd)
	if p.underWayBeside() {
		crowd = 1
	}
	next = p.cfg.Tick
	switch {
	case calls:
		next *= crowd
	case p.lead == caller:
		next = min(2*tick, next*max(tickMax, crowd))
	default:
		leads = p.wanted.Load() == 0 && p.takeLead(background)
	}
	p.drowsy = next > p.cfg.Tick
	return next, leads
}

// underWayBeside says whether anything is under way beside what a call waits for; of many
// for which it waits all but one count. The caller holds mu.
func (p *Proc) underWayBeside() bool {
	calls := 0
	if p.lead == caller {
		calls = 1
	}
	for _, r := range p.slots {
		if r.active() {
			if calls--; calls < 0 {
				return true
			}
		}
	}
	return false
}

// underWay tells the background loop that something has been started that the program
// does not wait for. The caller holds mu.
func (p *Proc) underWay() {
	if p.drowsy {
		p.drowsy = false
		select {
		case p.hurry <- struct{}{}:
		default:
		}
	}
}

func (p *Proc) leadInBackground() {
	for {
		select {
		case <-p.stop:
			return
		default:
		}
		p.mu.Lock()
		p.progress()
		p.mu.Unlock()
		if p.wanted.Load() > 0 {
			return
		}
		p.sleep(park.Background, p.loopReady, -1)
	}
}

// loopMustLook is the last question before the background loop sleeps.
func (p *Proc) loopMustLook() bool {
	p.fenceOthers()
	if p.wanted.Load() > 0 || p.link.Pending(-1) || p.node.Epoch() != p.epochSeen.Load() || p.transferMoved() || p.partsWait.Load() || p.memoryMoved() {
		return true
	}
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}
