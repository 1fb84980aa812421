package faultproxy

import (
	"math/rand/v2"
	"time"
)

// Weather is what a network does to datagrams. The zero value forwards all at once.
type Weather struct {
	Loss   float64       // probability that one is lost
	Delay  time.Duration // of each
	Jitter time.Duration // more of each, drawn evenly from [0, Jitter): later ones overtake
	// Outage is how long all are lost now and then, and OutageEach the mean time from the end of
	// one outage to the beginning of the next, drawn exponentially. 0: none.
	Outage, OutageEach time.Duration
}

// A fate draws what happens to datagrams. Time is counted from any moment, and does not go back.
type fate struct {
	random  *rand.Rand
	weather Weather
	out     time.Duration // when the next outage begins, or the present one began
}

// newFate returns one that depends on seed and on the moments of datagrams alone.
func newFate(seed uint64) *fate { return &fate{random: rand.New(rand.NewPCG(seed, 0))} }

// change takes another weather. Its first outage comes later.
func (f *fate) change(now time.Duration, w Weather) {
	f.weather = w
	f.out = now + f.pause()
}

func (f *fate) pause() time.Duration {
	return time.Duration(f.random.ExpFloat64() * float64(f.weather.OutageEach))
}

// draw says how late the datagram of a moment arrives, or that it is lost.
func (f *fate) draw(now time.Duration) (late time.Duration, lost bool) {
	if f.outage(now) || f.random.Float64() < f.weather.Loss {
		return 0, true
	}
	return f.weather.Delay + time.Duration(f.random.Float64()*float64(f.weather.Jitter)), false
}

// outage says whether all is lost at a moment.
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
