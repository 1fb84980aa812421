// Package alarm calls a function at the deadline of rules, which moves often and mostly backwards.
package alarm

import (
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// An Alarm is a timer for one function. The function runs in a goroutine of its own and calls Rang
// under the caller's mutex, which also guards Set.
type Alarm struct {
	timer *time.Timer
	at    mono.Time // 0: not set
}

// Set makes the alarm call f at the deadline, if there is one; f is the same in each call. An alarm
// that fires earlier stays: f sets the next one.
func (a *Alarm) Set(at mono.Time, ok bool, now func() mono.Time, f func()) {
	switch {
	case !ok && a.at != 0:
		a.timer.Stop()
		a.at = 0
	case !ok, a.at != 0 && at >= a.at: // no clock is read without a deadline
	default:
		a.at = at
		d := max(time.Duration(at-now()), 0)
		if a.timer == nil {
			a.timer = time.AfterFunc(d, f)
			return
		}
		a.timer.Reset(d)
	}
}

// Rang notes that the function has been called.
func (a *Alarm) Rang() { a.at = 0 }

// Stop ends the alarm for good; a call of the function that has begun goes on.
func (a *Alarm) Stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
