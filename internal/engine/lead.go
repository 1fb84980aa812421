package engine

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/ctxwatch"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/inquiry"
	"github.com/goulfm/goulfm/internal/shm/park"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// A group is the set of requests that one call waits for: a single one, all of them, or any.
type group struct {
	one    *Request
	many   []*Request
	any    bool
	next   int           // many, all: those before are complete without an error
	faults uint64        // many, all: of the process, when the ones behind were last checked
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

// failed reports whether one of the others has failed: an error ends a wait for all, too, because
// waiting on might not help (C1, R52).
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

// awaited returns the request to poll first, or nil.
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

// The kinds of leader.
type leader uint8

const (
	nobody leader = iota
	caller
	inBackground
)

// leadership is about the one goroutine of a process that makes progress for all that wait.
type leadership struct {
	p         *Proc
	who       leader
	leading   leading
	spin      park.Spin   // how long the leader polls before it sleeps
	ready     func() bool // mustPoll, made once: a method value
	asleep    atomic.Bool // the leader sleeps or is about to
	followers []*group
	wanted    atomic.Int32 // number of callers that wait for the background loop to let go
	watch     ctxwatch.Watch
	inquiry   inquiry.Inquiry // of this wait

	// Peers may omit the fence between publishing a result of a collective in memory and checking
	// for sleepers, and so may this process: see fenceOthers.
	othersUnfenced, unfenced bool
}

// await returns when g is ready, or ctx is over. The caller does not hold mu.
func (ld *leadership) await(ctx context.Context, g *group) error {
	if g.ready(ld.p) {
		return nil
	}
	ld.p.mu.Lock()
	for !ld.take(caller) {
		if over, err := ld.follow(ctx, g); over {
			ld.p.mu.Unlock()
			return err
		}
	}
	err := ld.until(ctx, g)
	ld.leave()
	return err
}

// take makes the caller the leader and returns true if nobody led. The caller holds mu.
func (ld *leadership) take(who leader) bool {
	if ld.who != nobody {
		return false
	}
	ld.who = who
	return true
}

// leading is the state that the leader waits for. The state is a part of Proc, because a local
// variable would move to the heap with every call that waits.
type leading struct {
	g   *group
	src int // peer whose ring is polled directly; -1: none
	// word is of a ring or of a transfer: the action to take when it moves is known
	near      bool
	word      *uint64 // the next cell's in that ring, or of a transfer, or in memory; nil: none
	want      uint64  // its value, or one less, when there is something to do
	stale     bool    // if true, want is its value as long as nothing is to be done
	again     bool    // a transfer is under way: poll again at once
	remote    bool    // src is on another node: a poll is a system call
	yields    int     // how often to yield the time slice before sleeping
	sleep     mono.Duration
	cancelled *atomic.Bool
}

// elsewhere returns the peer that the poll of all peers leaves out: the one whose ring is polled
// directly. A peer of another node is polled directly until the leader yields the processor; from
// then on only the poll of all peers sees its frames.
func (l *leading) elsewhere(spun bool) int {
	if spun && l.remote {
		return -1
	}
	return l.src
}

// until runs progress until g is ready. The caller has taken the lead, and holds mu,
// which is given back.
func (ld *leadership) until(ctx context.Context, g *group) error {
	l := &ld.leading
	*l = leading{g: g, src: -1, cancelled: ld.watch.Of(ctx)}
	ld.inquiry = inquiry.Inquiry{}
	ld.pollLocked()
	ld.p.mu.Unlock()
	polls, slept := 0, false
	for ; !g.ready(ld.p); polls++ {
		spun := polls >= ld.spin.Polls() || l.yields > 0
		switch {
		case l.cancelled != nil && l.cancelled.Load():
			return ctx.Err()
		case l.near && ld.moved():
			ld.p.mu.Lock()
			if ld.pollCloser() {
				polls = -1
			}
			ld.p.mu.Unlock()
		case ld.moved() || l.again || ld.p.node.Epoch() != ld.p.epochSeen.Load() ||
			(spun || polls&15 == 15) && ld.p.link.Pending(l.elsewhere(spun)) ||
			!spun && polls&15 == 15 && ld.p.busy.any(!l.stale):
			if ld.poll() {
				polls = -1
			}
		case l.remote && !spun:
			if ld.pollRemote(polls/remotePolls&15 == 15) {
				polls = -1
			} else {
				polls += remotePolls - 1
			}
		case !spun:
			if polls >= keenPollsMax {
				park.Pause(1)
			}
		case polls < l.yields:
			ld.p.node.Yield()
		default:
			ld.poll()
			ld.sleep(park.Caller, ld.ready, l.sleep)
			ld.poll()
			polls, slept = -1, true
		}
	}
	ld.learn(polls, slept)
	return nil
}

// pollRemote polls the kernel for frames of the awaited process or, if around is true, of any
// other. The result is true if there were any.
func (ld *leadership) pollRemote(around bool) bool {
	if around && (ld.p.link.Pending(ld.leading.src) || ld.p.busy.any(true)) {
		return ld.poll()
	}
	ld.p.mu.Lock()
	defer ld.p.mu.Unlock()
	return ld.pollCloser()
}

// remotePolls is the number of polls of memory as which a poll of the kernel counts.
const remotePolls = 8

// learn records the outcome of a wait that polls before it sleeps. The caller leads.
func (ld *leadership) learn(looks int, slept bool) {
	switch {
	case !ld.p.cfg.LearnSpin:
	case slept:
		ld.spin.Slept(ld.p.cfg.SharesCore)
	default:
		ld.spin.Found(looks)
	}
}

// poll lets everything that has arrived take effect, determines the word to poll next, and reports
// whether anything happened.
func (ld *leadership) poll() bool {
	ld.p.mu.Lock()
	did := ld.pollLocked()
	ld.p.mu.Unlock()
	return did
}

// pollLocked does the same for a caller that holds mu.
func (ld *leadership) pollLocked() bool {
	did := ld.p.progress()
	ld.leading.again = did && ld.p.busy.has(servesTransfers)
	return ld.pollCloser() || did
}

// pollCloser handles the frames of the awaited peer, and determines the word to poll next. The
// caller holds mu.
func (ld *leadership) pollCloser() bool {
	l := &ld.leading
	did := false
	for {
		r := l.g.awaited()
		l.src, l.near, l.word, l.stale, l.yields, l.sleep, l.remote = -1, false, nil, false, 0, -1, false
		if r == nil {
			return did
		}
		if r.memory != nil {
			l.word, l.want, l.stale, l.yields = r.memory.Awaits, r.memory.Stale, true, ld.p.cfg.YieldPolls
			return did
		}
		if r.kind == collectiveRequest {
			if r == r.comm.collective {
				l.word, l.want = r.comm.coll.Awaits()
				l.stale, l.yields, l.again = true, ld.p.cfg.YieldPolls, l.word == nil
				l.sleep = mismatchPoll
			}
			return did
		}
		if r.kind == scheduleRequest {
			if ld.p.port != nil {
				l.yields = ld.p.cfg.YieldPolls
			}
			if r = ld.nextPart(r); r == nil {
				return did
			}
		}
		if ld.p.others != nil && r.kind == callRequest {
			// the next frame is a few messages away, as in a collective
			l.yields = ld.p.cfg.YieldPolls
		}
		if !r.awaitsPeer(ld.p.me) {
			if !ld.p.busy.has(servesTransfers) || r.done() {
				return did
			}
			if ld.p.transfers.step(r) {
				ld.p.schedules.run()
				did = true
				continue
			}
			l.word, l.want = r.watchTransfer()
			l.near = l.word != nil
			return did
		}
		l.src, l.near = r.peer, true
		if !ld.p.drain(l.src) {
			l.word, l.want = ld.p.link.Watch(l.src)
			l.remote = ld.p.others.isAway(l.src)
			return did
		}
		ld.p.schedules.run()
		did = true
		if l.g.ready(ld.p) {
			return true
		}
	}
}

// nextPart returns the part of a collective by messages to poll, or nil.
func (ld *leadership) nextPart(r *Request) *Request {
	ld.p.schedules.run()
	if r.done() {
		return nil
	}
	return r.schedule.awaited()
}

// moved reports whether the awaited cell is there, or the awaited step of a transfer. The receiver
// of a message may take two steps at a time.
func (ld *leadership) moved() bool {
	l := &ld.leading
	if l.word == nil {
		return false
	}
	if v := atomic.LoadUint64(l.word); l.stale {
		return v != l.want
	} else {
		return v-l.want <= 1
	}
}

// mustPoll is the last check before the leader sleeps. mustPoll takes mu, because a goroutine that
// ends a request does not wait until others see that before it checks whether the leader is asleep.
// If the check was earlier, under mu, the end is seen here. If the check is later, the goroutine
// sees that the leader sleeps.
func (ld *leadership) mustPoll() bool {
	l := &ld.leading
	ld.fenceOthers()
	ld.p.mu.Lock()
	ready := l.g.ready(ld.p)
	ld.p.mu.Unlock()
	return ready || ld.moved() || ld.p.link.Pending(-1) || ld.p.node.Epoch() != ld.p.epochSeen.Load() || ld.p.needsService() ||
		l.cancelled != nil && l.cancelled.Load()
}

// leave gives the lead up and hands it to a follower, but does not wake the background loop: right
// after a death every thread that wakes delays others.
func (ld *leadership) leave() {
	ld.p.mu.Lock()
	ld.leaveLocked()
	ld.p.mu.Unlock()
}

// leaveLocked is leave for a caller that holds mu.
func (ld *leadership) leaveLocked() {
	ld.who = nobody
	ld.offer()
}

// offer wakes a follower to take the lead, if nobody leads. The caller holds mu.
func (ld *leadership) offer() {
	if ld.who == nobody && len(ld.followers) > 0 {
		ld.followers[0].signal()
	}
}

// follow waits until the leader has ended what g waits for, ctx is over, or the lead is free. If
// over is true the caller waits no longer; otherwise it is to take the lead, if nobody else has.
// Somebody leads; the caller holds mu, and does again afterwards.
//
// The lead may have been offered to this follower for any reason of its wake-up, and an offer is
// made once. A follower that waits no longer therefore passes the offer on before it releases mu.
// Otherwise nobody leads while others sleep, and the background loop stands back for them:
//
//	leader             follower 1           follower 2
//	                   its ctx ends
//	leaves, wakes 1
//	                   returns ctx's error  sleeps until some other call is made
func (ld *leadership) follow(ctx context.Context, g *group) (over bool, err error) {
	if g.wake == nil {
		g.wake = make(chan struct{}, 1)
	}
	ld.attach(g, g)
	ld.followers = append(ld.followers, g)
	ld.wanted.Add(1)
	away, ready := ld.who == inBackground, g.ready(ld.p)
	ld.p.mu.Unlock()
	if away {
		ld.p.node.Notify(ld.p.me, park.Background)
	}
	if !ready {
		select {
		case <-g.wake:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	ld.p.mu.Lock()
	ld.attach(g, nil)
	ld.followers = slices.DeleteFunc(ld.followers, func(f *group) bool { return f == g })
	ld.wanted.Add(-1)
	if g.ready(ld.p) {
		over, err = true, nil
	}
	if over = over || err != nil; over {
		ld.offer()
	}
	return over, err
}

func (ld *leadership) attach(g, to *group) {
	if g.one != nil {
		g.one.waiter = to
	}
	for _, r := range g.many {
		if r != nil {
			r.waiter = to
		}
	}
}

// stir wakes the leader if it sleeps, after another goroutine has completed a request that the
// leader may wait for.
func (ld *leadership) stir() {
	if ld.asleep.Load() {
		ld.p.node.Notify(ld.p.me, park.Caller|park.Background)
	}
}

// fenceOthers is called by a process that has set its sleep flag, before its last check. Where each
// rank has a core the members of a collective in memory do not fence between publishing and
// checking for sleepers, because sleepers are rare:
//
//	member                  process about to sleep
//	publishes its line
//	sees nobody asleep
//	                        sets its sleep flag
//	                        does not see the line: it is on its way
//
// The sleeper therefore executes the fence for all of them. Where ranks share cores most of them
// sleep, and members fence.
func (ld *leadership) fenceOthers() {
	if ld.othersUnfenced && ld.p.busy.has(servesMemory) && !publish.FenceAll() {
		park.Pause(awayPauses)
	}
}

// awayPauses are, for a process that the kernel forbids to make a FenceAll, 10 to 50 microseconds:
// several times the propagation time of a line. Such a process also sleeps for at most
// mismatchPoll.
const awayPauses = 512

// sleep sleeps until there is something to do, or for so long; negative: for ever.
func (ld *leadership) sleep(flag uint32, mustPoll func() bool, most mono.Duration) {
	if most < 0 && ld.othersUnfenced && ld.p.busy.has(servesMemory) {
		most = mismatchPoll
	}
	if ld.p.busy.has(servesTransfers) && ld.p.transfers.awaitsEnd() {
		most = endPoll
	}
	if ld.p.busy.has(servesOneSided) && (most < 0 || most > pollAgain) {
		most = pollAgain
	}
	ld.asleep.Store(true)
	if pausepoint.Enabled {
		pausepoint.At("engine.sleeps")
	}
	ld.p.node.Sleep(flag, mustPoll, most)
	ld.asleep.Store(false)
}

// mismatchPoll is the time after which a sleeping member of a collective checks whether another has
// made another call: nobody is woken for that.
const mismatchPoll = 100 * mono.Millisecond

// endPoll is the time after which a process checks whether a dead sender has been reaped: the
// launcher wakes nobody for that. A sender rarely dies while copying.
const endPoll = 200 * mono.Microsecond

// awaitsEnd reports whether a receive waits until no thread of its dead sender is left.
func (ts *transfers) awaitsEnd() bool {
	ts.p.mu.Lock()
	defer ts.p.mu.Unlock()
	return slices.ContainsFunc(ts.pulls, func(r *Request) bool { return r.pull.err != nil && ts.p.isDead(r.peer) })
}
