package adaptive_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
)

// A crash is to be known within 30 s, with one wrong suspicion a month that lasts a minute
// at most, on a network that loses 1 % and has delays with a deviation of 140 ms.
func ExampleConfigure() {
	asked := adaptive.QoS{Detection: 30 * adaptive.Second, Recurrence: 30 * adaptive.Day, Duration: 60 * adaptive.Second}
	bad := adaptive.Network{Loss: 0.01, Variance: 0.02}
	s, ok := adaptive.Configure(bad, asked, adaptive.Limits{Confirm: adaptive.Unconfirmed})
	fmt.Printf("a beat each %.2f s, suspected %.2f s after the next one was expected: %v\n", s.Period.Seconds(), s.Shift.Seconds(), ok)

	bad.LossAgain = 0.4 // its losses come in bursts
	s, ok = adaptive.Configure(bad, asked, adaptive.Limits{Confirm: adaptive.Unconfirmed})
	fmt.Printf("a beat each %.2f s: %v\n", s.Period.Seconds(), ok)
	// Output:
	// a beat each 9.72 s, suspected 20.28 s after the next one was expected: true
	// a beat each 2.50 s: true
}

// The same detector, exactly: delays are known to be exponential.
func ExamplePredict() {
	n := adaptive.Delays{Loss: 0.01, Mean: 20 * adaptive.Millisecond, Beyond: func(x float64) float64 { return math.Exp(-x / 0.02) }}
	q := adaptive.Predict(n, adaptive.Setting{Period: adaptive.Second, Shift: 480 * adaptive.Millisecond})
	fmt.Printf("a mistake each %.0f s, which lasts %.2f s\n", q.Recurrence.Seconds(), q.Duration.Seconds())
	// Output: a mistake each 101 s, which lasts 0.53 s
}

// An observer and an emitter with 50 ms between them, played by hand. The process dies after
// its first beat.
func ExampleObserver() {
	var observer adaptive.Observer
	var emitter adaptive.Emitter
	now := adaptive.Time(0)
	later := func(d adaptive.Duration) adaptive.Time { now = now.Add(d); return now }

	asked := adaptive.QoS{Detection: 10 * adaptive.Second}
	for _, a := range observer.Step(adaptive.Observe{Peer: 0, At: now, QoS: asked}) {
		adjust := a.(adaptive.Send).Message.(adaptive.Adjust)
		fmt.Printf("%v: a beat each %v, please\n", adaptive.Duration(now), adjust.Period)
		replies := slices.Clone(emitter.Step(adaptive.Accept{Observer: 0, At: later(50 * adaptive.Millisecond), Adjust: adjust}))
		replies = append(replies, emitter.Step(adaptive.Instant{Now: now})...)
		later(50 * adaptive.Millisecond)
		for _, r := range replies {
			switch m := r.Message.(type) {
			case adaptive.Echo:
				observer.Step(adaptive.Answered{Peer: 0, At: now, RTT: now.Sub(m.Clock)})
			case adaptive.Beat:
				observer.Step(adaptive.Heard{Peer: 0, At: now, Beat: m})
				fmt.Printf("%v: heard\n", adaptive.Duration(now))
			}
		}
	}
	for {
		at, ok := observer.Deadline()
		if !ok {
			break
		}
		now = at
		for _, a := range observer.Step(adaptive.Tick{Now: now}) {
			switch a := a.(type) {
			case adaptive.Suspect:
				fmt.Printf("%v: silent for %v\n", adaptive.Duration(now), a.Silent)
			case adaptive.Declare:
				fmt.Printf("%v: dead by %v\n", adaptive.Duration(now), a.Evidence)
			}
		}
	}
	// Output:
	// 0ms: a beat each 2.21783s, please
	// 100ms: heard
	// 9s: silent for 6.68217s
	// 10s: dead by silence
}
