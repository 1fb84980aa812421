package engine

import (
	"sync"
	"time"

	"github.com/goulfm/goulfm/internal/shm/park"
)

// tickMax is how much longer a tick may get while a call waits: the background
// loop has nothing to do then, and 64 ranks of a job wait at the same time.
const tickMax = 8

// background makes progress while the program computes.
type background struct {
	p       *Proc
	ready   func() bool // mustPoll, made once: a method value
	stop    chan struct{}
	stopped sync.Once
	hurry   chan struct{} // the loop is to poll after a tick from now
	drowsy  bool          // the next poll is later than that
	ended   chan struct{}
}

// run leads while the program computes: when no call was made for a tick the loop takes the lead
// and sleeps until something arrives that cannot wait.
//
// A tick costs its processor some 25 us, for the most part in the runtime, and ranks that share a
// core wait for one another's ticks: with 32 ranks on a core, for a third of the time of a
// collective. A rank that makes calls, with nothing under way beside them, therefore polls less
// often, by the number of ranks per core, until something is under way.
func (bg *background) run() {
	defer close(bg.ended)
	tick := bg.tick()
	timer := time.NewTimer(tick)
	defer timer.Stop()
	var seen uint64
	for {
		select {
		case <-bg.stop:
			return
		case <-bg.hurry:
			tick = bg.tick()
			timer.Reset(tick)
			continue
		case <-timer.C:
		}
		if bg.p.cfg.Alive != nil {
			bg.p.cfg.Alive()
		}
		if bg.p.cfg.OnTick != nil {
			bg.p.cfg.OnTick()
		}
		var leads bool
		tick, leads = bg.nextTick(tick, &seen)
		if leads {
			bg.lead()
			bg.p.leads.leave()
		}
		timer.Reset(tick)
	}
}

// nextTick returns how long the background loop may wait after a tick of that length, and whether
// it leads now, because no call has been made since the last tick, and none waits. seen is the
// number of calls at the last tick. An operation started from now on checks drowsy, and hurries the
// loop if necessary.
func (bg *background) nextTick(tick time.Duration, seen *uint64) (next time.Duration, leads bool) {
	if !bg.p.mu.TryLock() {
		return min(tick, bg.p.cfg.Tick), false // somebody makes a call right now
	}
	defer bg.p.mu.Unlock()
	calls := bg.p.calls != *seen
	*seen = bg.p.calls
	crowd := time.Duration(bg.p.cfg.Crowd)
	if bg.serves() || bg.underWayBeside() {
		crowd = 1
	}
	period := bg.period()
	next = period
	switch {
	case calls:
		next *= crowd
	case bg.p.leads.who == caller:
		if bg.p.leads.inquiry.IsDue(bg.p.now()) {
			bg.p.leads.ask()
		}
		next = min(2*tick, next*max(tickMax, crowd))
	default:
		leads = bg.p.leads.wanted.Load() == 0 && bg.p.leads.take(inBackground)
	}
	bg.drowsy = next > period
	return next, leads
}

// underWayBeside reports whether anything is under way beside the request that a call waits for. If
// a call waits for several, all but one of them count. The caller holds mu.
func (bg *background) underWayBeside() bool {
	calls := 0
	if bg.p.leads.who == caller {
		calls = 1
	}
	for _, r := range bg.p.slots {
		if r.active() {
			if calls--; calls < 0 {
				return true
			}
		}
	}
	return false
}

// hurryUp notifies the background loop that something has been started that the program does not
// wait for. The caller holds mu.
func (bg *background) hurryUp() {
	if bg.drowsy {
		bg.drowsy = false
		select {
		case bg.hurry <- struct{}{}:
		default:
		}
	}
}

// takeSend leaves a send for which nobody waits to the loop, unless it is over: r is its request,
// and without one it may wait to be written to another node. The caller holds mu.
func (bg *background) takeSend(to int, r *Request) {
	if r != nil || bg.p.others.isAway(to) {
		bg.hurryUp()
	}
}

func (bg *background) lead() {
	for {
		select {
		case <-bg.stop:
			return
		default:
		}
		bg.p.mu.Lock()
		bg.p.progress()
		bg.p.mu.Unlock()
		if bg.p.leads.wanted.Load() > 0 {
			return
		}
		bg.p.leads.sleep(bg.wakes(), bg.ready, -1)
	}
}

// servingTick is the tick of a process that serves windows of others: the others wait for this
// process while its program computes, until the loop has found that no call was made for a tick,
// and sleeps where frames wake it.
const servingTick = time.Millisecond

// serves reports whether others send frames to this process's windows. The caller holds mu.
func (bg *background) serves() bool { return len(bg.p.memory.oneSided.serving) > 0 }

// tick is period for a caller that does not hold mu.
func (bg *background) tick() time.Duration {
	bg.p.mu.Lock()
	defer bg.p.mu.Unlock()
	return bg.period()
}

// period returns the least time between two polls of the loop. The caller holds mu.
func (bg *background) period() time.Duration {
	if bg.serves() {
		return min(bg.p.cfg.Tick, servingTick)
	}
	return bg.p.cfg.Tick
}

// wakes returns the flags for which the loop is to be woken. They include frames that other members
// of windows send, if there are such windows. To a process that computes these frames come as
// messages do, for which nobody would wake the loop.
func (bg *background) wakes() uint32 {
	bg.p.mu.Lock()
	defer bg.p.mu.Unlock()
	if bg.serves() {
		return park.Background | park.Caller
	}
	return park.Background
}

// mustPoll is the last question before the background loop sleeps.
func (bg *background) mustPoll() bool {
	bg.p.leads.fenceOthers()
	if bg.p.leads.wanted.Load() > 0 || bg.p.link.Pending(-1) || bg.p.node.Epoch() != bg.p.epochSeen.Load() || bg.p.needsService() {
		return true
	}
	select {
	case <-bg.stop:
		return true
	default:
		return false
	}
}
