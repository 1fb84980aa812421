package engine

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/goulfm/goulfm/internal/park"
)

// A group is what one call waits for: one request, all that are named, or any.
type group struct {
	one  *Request
	many []*Request
	any  bool
	wake chan struct{} // not nil once it follows
}

func (g *group) ready() bool {
	if g.one != nil {
		return g.one.settled()
	}
	all, some := true, false
	for _, r := range g.many {
		if r == nil {
			continue
		}
		some = true
		switch {
		case !r.settled():
			all = false
		case g.any, r.pend.Load(), r.err != nil:
			return true // an error ends a wait for all too: waiting on might not help (C1, R52)
		}
	}
	return all && !(g.any && some)
}

// source returns the peer whose ring the leader polls directly, or -1. The
// caller holds mu.
func (g *group) source() int {
	if r := g.one; r != nil && r.kind == recvRequest && !r.matched {
		return r.peer
	}
	return -1
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
	for !g.ready() {
		if p.lead.CompareAndSwap(nobody, caller) {
			err := p.leadUntil(ctx, g)
			p.leave()
			if err != nil {
				return err
			}
			continue
		}
		if err := p.follow(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// leading is what the one leader waits for. It lives in Proc, because a local one
// would move to the heap with every call that waits.
type leading struct {
	g         *group
	src       int     // peer whose ring is polled directly; -1: none
	word      *uint64 // in that ring: the next cell's; or of a transfer; nil: there is none
	want      uint64  // its value, or one less, when there is something to do
	again     bool    // a transfer is under way: look at once
	cancelled *atomic.Bool
}

// leadUntil runs progress until g is ready.
func (p *Proc) leadUntil(ctx context.Context, g *group) error {
	l := &p.leading
	*l = leading{g: g, src: -1, cancelled: p.watchContext(ctx)}
	p.look()
	for polls := 0; !g.ready(); polls++ {
		switch {
		case l.cancelled != nil && l.cancelled.Load():
			return ctx.Err()
		case p.moved() || l.again || p.epoch() != p.epochSeen.Load() ||
			polls&15 == 15 && (p.tr.Pending(l.src) || p.transfers.Load() > 0):
			if p.look() {
				polls = -1
			}
		case polls >= p.cfg.SpinPolls:
			p.look()
			p.asleep.Store(true)
			p.tr.Sleep(park.Caller, p.leaderReady, -1)
			p.asleep.Store(false)
			p.look()
			polls = -1
		default:
			park.Pause(1)
		}
	}
	return nil
}

// look lets everything that has arrived take effect, and finds out what to poll
// next. It says whether anything happened.
func (p *Proc) look() bool {
	l := &p.leading
	p.mu.Lock()
	did := p.progress()
	l.src, l.word, l.again = l.g.source(), nil, did && p.transfers.Load() > 0
	if l.src >= 0 && l.src != p.me {
		did = p.drain(l.src) || did
		l.word, l.want = p.tr.Watch(l.src)
	} else if r := l.g.one; r != nil && p.transfers.Load() > 0 {
		l.word, l.want = r.watchTransfer()
	}
	p.mu.Unlock()
	return did
}

// moved says whether the awaited cell is there, or the awaited step of a transfer.
// The receiver of a message may take two steps at a time.
func (p *Proc) moved() bool {
	return p.leading.word != nil && atomic.LoadUint64(p.leading.word)-p.leading.want <= 1
}

// leaderMustLook is the last question before the leader sleeps.
func (p *Proc) leaderMustLook() bool {
	l := &p.leading
	return l.g.ready() || p.moved() || p.tr.Pending(-1) || p.epoch() != p.epochSeen.Load() || p.transferMoved() ||
		l.cancelled != nil && l.cancelled.Load()
}

// leave gives the lead up and hands it to a follower. It does not stir the
// background loop: right after a death every thread that wakes delays others.
func (p *Proc) leave() {
	p.lead.Store(nobody)
	if p.following.Load() > 0 {
		p.mu.Lock()
		if len(p.followers) > 0 {
			p.followers[0].signal()
		}
		p.mu.Unlock()
	}
}

// follow waits until the leader has done something for g, or hands over the lead.
func (p *Proc) follow(ctx context.Context, g *group) error {
	p.mu.Lock()
	if g.wake == nil {
		g.wake = make(chan struct{}, 1)
	}
	p.attach(g, g)
	p.followers = append(p.followers, g)
	p.following.Add(1)
	p.wanted.Add(1)
	p.mu.Unlock()
	if p.lead.Load() == background {
		p.tr.Notify(p.me, park.Background)
	}
	var err error
	// A leader that leaves stores nobody first and looks for followers afterwards;
	// this follower is in the list first and looks for a leader afterwards.
	if !g.ready() && p.lead.Load() != nobody {
		select {
		case <-g.wake:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mu.Lock()
	p.attach(g, nil)
	p.followers = slices.DeleteFunc(p.followers, func(f *group) bool { return f == g })
	p.following.Add(-1)
	p.wanted.Add(-1)
	if g.ready() && len(p.followers) > 0 && p.lead.Load() == nobody {
		p.followers[0].signal() // the lead was handed to this one, which needs it no more
	}
	p.mu.Unlock()
	return err
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
		p.tr.Notify(p.me, park.Caller|park.Background)
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
			p.tr.Notify(p.me, park.Caller|park.Background)
		})}
	}
	return p.watch.fired
}

// tickMax is how much longer a tick may get while a call waits: the background
// loop has nothing to do then, and 64 ranks of a job wait at the same time.
const tickMax = 8

// background leads while the program computes: when no call was made for a tick
// it takes the lead and sleeps until something arrives that cannot wait.
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
		case <-timer.C:
		}
		if p.cfg.OnTick != nil {
			p.cfg.OnTick()
		}
		p.mu.Lock()
		quiet := p.calls == seen
		seen = p.calls
		p.mu.Unlock()
		switch {
		case !quiet:
			tick = p.cfg.Tick
		case p.lead.Load() == caller:
			tick = min(2*tick, tickMax*p.cfg.Tick)
		case p.wanted.Load() == 0 && p.lead.CompareAndSwap(nobody, background):
			p.leadInBackground()
			p.leave()
			tick = p.cfg.Tick
		}
		timer.Reset(tick)
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
		p.asleep.Store(true)
		p.tr.Sleep(park.Background, p.loopReady, -1)
		p.asleep.Store(false)
	}
}

// loopMustLook is the last question before the background loop sleeps.
func (p *Proc) loopMustLook() bool {
	if p.wanted.Load() > 0 || p.tr.Pending(-1) || p.epoch() != p.epochSeen.Load() || p.transferMoved() {
		return true
	}
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}
