package park

import (
	"sync/atomic"
	"testing"
)

// doors are where owners sleep for Caller, each at a bell of its own.
type doors struct {
	bells    []uint32
	assembly uint32
	awake    []chan struct{} // closed by each owner at its end
}

// asleep returns owners that have raised their flags, and sleep or are just about to. An owner that
// wakes sleeps again, until over is set.
func asleep(s Sleeper, n int, over *atomic.Bool) *doors {
	d := &doors{bells: make([]uint32, n)}
	raised := make(chan struct{})
	for i := range n {
		woken := make(chan struct{})
		d.awake = append(d.awake, woken)
		go func() {
			w := Raise(&d.bells[i], Caller)
			raised <- struct{}{}
			for !over.Load() {
				s.Sleep(&d.bells[i], w, -1)
				w = atomic.LoadUint32(&d.bells[i])
			}
			close(woken)
		}()
		<-raised
	}
	return d
}

// TestRoundWakesAll: whether one owner sleeps or many, all are awake after a round, however far
// they are on their way to sleep.
func TestRoundWakesAll(t *testing.T) {
	rings := map[string]func(r *Round, word *uint32){
		"for a flag": func(r *Round, word *uint32) { r.Ring(word, Caller) },
		"always":     func(r *Round, word *uint32) { r.RingAlways(word) },
	}
	for name, s := range sleepers() {
		for how, ring := range rings {
			t.Run(name+" "+how, func(t *testing.T) {
				for n := range 9 {
					for range 50 {
						var over atomic.Bool
						d := asleep(s, n, &over)
						over.Store(true)
						round := Round{Sleeper: s, Assembly: &d.assembly}
						for i := range d.bells {
							ring(&round, &d.bells[i])
						}
						round.End()
						for _, woken := range d.awake {
							<-woken
						}
					}
				}
			})
		}
	}
}

// TestRoundLeavesOthersAsleep: a round wakes only the sleepers for its flags.
func TestRoundLeavesOthersAsleep(t *testing.T) {
	var bells [3]uint32
	var assembly uint32
	Raise(&bells[0], Background)
	Raise(&bells[1], Caller)
	before := bells
	round := Round{Sleeper: NewChannels(), Assembly: &assembly}
	for i := range bells {
		round.Ring(&bells[i], Caller)
	}
	round.End()
	if bells[0] != before[0] || bells[2] != before[2] {
		t.Errorf("rang for who sleeps for something else, or not at all: %x, before %x", bells, before)
	}
	if bells[1]&Caller != 0 || bells[1] == before[1] {
		t.Errorf("did not ring for who sleeps: %x, before %x", bells[1], before[1])
	}
	if assembly != 0 {
		t.Error("a round changed the word of the assembly")
	}
}
