package park

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestRingIsNeverMissed lets two goroutines hand a counter to and fro, each sleeping until its
// turn: one lost ring would stop them for ever.
func TestRingIsNeverMissed(t *testing.T) {
	for name, s := range sleepers() {
		t.Run(name, func(t *testing.T) {
			var bells [2]uint32
			var turn atomic.Uint64
			const rounds = 2000
			play := func(me uint64, done chan<- struct{}) {
				for k := me; k < rounds; k += 2 {
					for turn.Load() != k {
						w := Raise(&bells[me], Caller)
						if turn.Load() == k {
							Lower(&bells[me], Caller)
							break
						}
						s.Sleep(&bells[me], w, -1)
						Lower(&bells[me], Caller)
					}
					turn.Store(k + 1)
					Ring(&bells[1-me], Caller, s)
				}
				close(done)
			}
			a, b := make(chan struct{}), make(chan struct{})
			go play(0, a)
			go play(1, b)
			<-a
			<-b
		})
	}
}

func TestRingOnlyForWhatIsWanted(t *testing.T) {
	var bell uint32
	s := NewChannels()
	if Ring(&bell, Caller|Background, s) {
		t.Error("rang a bell behind which nobody sleeps")
	}
	Raise(&bell, Background)
	if Ring(&bell, Caller, s) {
		t.Error("eager data woke the background loop")
	}
	before := bell
	if !Ring(&bell, Caller|Background, s) || bell == before || bell&Background != 0 {
		t.Errorf("word %x after the ring, %x before", bell, before)
	}
}

func TestTimeout(t *testing.T) {
	for name, s := range sleepers() {
		var bell uint32
		s.Sleep(&bell, 0, 1000) // returns by itself: nobody rings
		if bell != 0 {
			t.Errorf("%s: a sleeper changed the word", name)
		}
	}
}

// TestSleeperHoldsUpNoCollection: a garbage collection ends while somebody sleeps.
func TestSleeperHoldsUpNoCollection(t *testing.T) {
	for name, s := range sleepers() {
		t.Run(name, func(t *testing.T) {
			var bell uint32
			w := Raise(&bell, Caller)
			asleep, woken := make(chan struct{}), make(chan struct{})
			go func() {
				close(asleep)
				s.Sleep(&bell, w, -1)
				close(woken)
			}()
			<-asleep
			for range 20 {
				runtime.GC()
			}
			for {
				Ring(&bell, Caller, s)
				select {
				case <-woken:
					return
				default:
					s.Wake(&bell)
					runtime.Gosched()
				}
			}
		})
	}
}

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		Pause(1)
	}
}
