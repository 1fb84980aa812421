package park

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// A Round rings the doorbells of many owners and wakes all that sleep at once. Woken
// one by one, each would take the processor from who wakes the others, and keep it until
// it has done what it was woken for: a tenth of a millisecond for each, with all others
// still asleep. So they are moved to one word first, the assembly, which wakes nobody.
//
// Who dies before the end of a round leaves sleepers at the assembly, where no ring at
// their own doors finds them; the round that follows every declared death wakes them.
type Round struct {
	Sleeper  Sleeper
	Assembly *uint32 // of all who sleep with this Sleeper; nothing changes it
	one      *uint32 // the first bell that was rung, as long as it is the only one
	many     bool    // somebody was moved
}

// Ring rings a doorbell if its owner sleeps for one of the flags in want.
func (r *Round) Ring(word *uint32, want uint32) {
	switch {
	case !lower(word, want):
	case r.one == nil && !r.many:
		r.one = word
	default:
		r.move(word)
	}
}

// RingAlways rings whatever the owner sleeps for, and makes it look again even if it is
// only about to sleep. It is for rare events: deaths. It does not ask whether a flag is
// raised, for who died may have taken it away:
//
//	sleeper              ringer                  after its death
//	raises its flag
//	sleeps
//	                     takes the flag away
//	                     dies, wakes nobody
//	                                             no flag, and somebody sleeps
func (r *Round) RingAlways(word *uint32) {
	if failpoint.Counting {
		failpoint.Here()
	}
	atomic.AddUint32(word, count)
	r.move(word)
}

func (r *Round) move(word *uint32) {
	if r.one != nil {
		r.take(r.one)
		r.one = nil
	}
	r.take(word)
	r.many = true
}

func (r *Round) take(word *uint32) {
	if failpoint.Counting {
		failpoint.Here()
	}
	r.Sleeper.Move(word, r.Assembly)
}

// End wakes all whose doors were rung and, if one of them was rung always, all whom a round
// has left at the assembly that did not come to its end.
func (r *Round) End() {
	switch {
	case r.one != nil:
		wake(r.Sleeper, r.one)
	case r.many:
		wake(r.Sleeper, r.Assembly)
	}
}
