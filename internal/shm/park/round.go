package park

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
)

// A Round rings the doorbells of many owners and wakes all sleepers at once. Woken one at a time,
// each sleeper would preempt the waker, and keep the processor until its work is done: a tenth of a
// millisecond for each, with all others still asleep. So the round first moves the sleepers to one
// word, the assembly, which wakes nobody.
//
// A ringer that dies before the end of a round leaves sleepers at the assembly, where no ring at
// their own doors finds them. The round that follows every declared death wakes them.
type Round struct {
	Sleeper  Sleeper
	Assembly *uint32 // shared by all sleepers with this Sleeper; nobody changes the word
	one      *uint32 // the first bell that was rung, while no other was
	many     bool    // sleepers were moved
}

// Ring rings a doorbell if its owner sleeps for one of the flags.
func (r *Round) Ring(word *uint32, want uint32) {
	switch {
	case !lower(word, want):
	case r.one == nil && !r.many:
		r.one = word
	default:
		r.move(word)
	}
}

// RingAlways rings whether a flag is raised or not, and makes an owner that is only about to sleep
// poll again. It is for rare events: deaths. RingAlways does not check the flags, for a dead ringer
// may have taken them away:
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

// End wakes all owners whose doors were rung. After a RingAlways, End also wakes the sleepers that
// an unfinished round has left at the assembly.
func (r *Round) End() {
	switch {
	case r.one != nil:
		wake(r.Sleeper, r.one)
	case r.many:
		wake(r.Sleeper, r.Assembly)
	}
}
