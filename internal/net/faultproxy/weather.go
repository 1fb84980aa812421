package faultproxy

import (
	"math/rand/v2"
	"time"
)

// Weather is the treatment of datagrams by a network. The zero value forwards all at once.
type Weather struct {
	Loss   float64       // probability that a datagram is lost
	Delay  time.Duration // of each
	Jitter time.Duration // more of each, drawn evenly from [0, Jitter): later ones overtake
	// Outage is the length of a period in which all datagrams are lost. OutageEach is the mean
	// time from the end of one outage to the beginning of the next, drawn exponentially. 0: none.
	Outage, OutageEach time.Duration
}

// A fate draws the treatment of datagrams. Time is counted from any moment, and does not
// decrease.
type fate struct {
	random  *rand.Rand
	weather Weather
	out     time.Duration // when the next outage begins, or the present one began
}

// newFate returns a fate that depends on seed and on the times of datagrams alone.
func newFate(seed uint64) *fate { return &fate{random: rand.New(rand.NewPCG(seed, 0))} }

// change sets another weather. Its first outage comes later.
func (f *fate) change(now time.Duration, w Weather) {
	f.weather = w
	f.out = now + f.pause()
}

func (f *fate) pause() time.Duration {
	return time.Duration(f.random.ExpFloat64() * float64(f.weather.OutageEach))
}

// draw returns the delay of the datagram of a moment, or that it is lost.
func (f *fate) draw(now time.Duration) (late time.Duration, lost bool) {
	if f.outage(now) || f.random.Float64() < f.weather.Loss {
		return 0, true
	}
	return f.weather.Delay + time.Duration(f.random.Float64()*float64(f.weather.Jitter)), false
}

// outage reports whether all datagrams are lost at a moment.
func (f *fate) outage(now time.Duration) bool {
	w := f.weather
	if w.Outage <= 0 || w.OutageEach <= 0 {
		return false
	}
	for now >= f.out+w.Outage {
		f.out += w.Outage + f.pause()
	}
	return now >= f.out
}
