package park

import "sync/atomic"

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
	many     bool
}

// Ring rings a doorbell if its owner sleeps for one of the flags in want.
func (r *Round) Ring(word *uint32, want uint32) {
	if lower(word, want) {
		r.add(word)
	}
}

// RingAlways rings whatever the owner sleeps for, and makes it look again even if it is
// only about to sleep. It is for rare events: deaths.
func (r *Round) RingAlways(word *uint32) {
	if atomic.AddUint32(word, count)&flags != 0 {
		r.add(word)
	}
}

func (r *Round) add(word *uint32) {
	if r.one == nil && !r.many {
		r.one = word
		return
	}
	if r.one != nil {
		r.Sleeper.Move(r.one, r.Assembly)
		r.one, r.many = nil, true
	}
	r.Sleeper.Move(word, r.Assembly)
}

// End wakes all whose doors were rung.
func (r *Round) End() {
	switch {
	case r.one != nil:
		r.Sleeper.Wake(r.one)
	case r.many:
		r.Sleeper.Wake(r.Assembly)
	}
}

// EndAll wakes them, and all whom a round has left that did not come to its end.
func (r *Round) EndAll() {
	r.End()
	if !r.many {
		r.Sleeper.Wake(r.Assembly)
	}
}
