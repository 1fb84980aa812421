package fd

import (
	"math"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// A timer runs out some time after the first Tick that follows its start. Between two Ticks the
// time is not known, and the time of the last Tick would make the timer run out early: a heartbeat
// received just before a Tick would count as received just after the previous Tick, and a live
// emitter could be suspected a Period too soon.
type timer struct {
	wait   mono.Duration // how long the timer runs
	at     mono.Time     // when it runs out, if running
	since  mono.Time     // the Tick that set the timer running, if running
	ticked bool          // whether that Tick has come: the timer is running
}

// start makes the timer run out wait after the next Tick.
func (t *timer) start(wait mono.Duration) {
	*t = timer{wait: wait, at: math.MinInt64}
}

// prolong does the same, but never moves the end of the timer to an earlier time.
func (t *timer) prolong(wait mono.Duration) {
	t.wait, t.ticked = wait, false
}

// tick sets a stopped timer running from now.
func (t *timer) tick(now mono.Time) {
	if !t.ticked {
		t.at, t.since, t.ticked = max(t.at, now.Add(t.wait)), now, true
	}
}

func (t *timer) expired(now mono.Time) bool { return t.ticked && now >= t.at }

// delay takes d out of the time that has passed for a running timer.
func (t *timer) delay(d mono.Duration) {
	if t.ticked {
		t.at, t.since = t.at.Add(d), t.since.Add(d)
	}
}
