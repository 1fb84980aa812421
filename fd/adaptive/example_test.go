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

// The owner of an Observer finds the peer of a received message by the number in the message, and
// inspects the state of this peer.
func ExampleObserver_Stream() {
	const replica = 3 // the place of the peer
	var observer adaptive.Observer
	announced := observer.Next(replica) // the peer learns this number before the observation begins
	observer.Step(adaptive.Observe{Peer: replica, QoS: adaptive.QoS{Detection: 10 * adaptive.Second}})
	fmt.Println(observer.Stream(replica) == announced, adaptive.PeerOf(announced))

	observer.Step(adaptive.Broken{Peer: replica, At: adaptive.Time(adaptive.Second)})
	fmt.Println("suspected:", observer.Suspected(replica))
	fmt.Println("requested period:", observer.Watch(replica).Wanted())
	// Output:
	// true 3
	// suspected: true
	// requested period: 2.21783s
}

// An emitter sends a beat each second, and sleeps until the next one is due.
func ExampleEmitter_Deadline() {
	var emitter adaptive.Emitter
	emitter.Step(adaptive.Accept{Adjust: adaptive.Adjust{Stream: 7, Period: adaptive.Second}})
	for range 3 {
		due, _ := emitter.Deadline()
		for _, reply := range emitter.Step(adaptive.Instant{Now: due}) {
			fmt.Println(adaptive.Duration(due), "beat", reply.Message.(adaptive.Beat).Seq)
		}
	}
	// Output:
	// 0ms beat 0
	// 1s beat 1
	// 2s beat 2
}

// One process is watched without an Observer. Its first beat takes 50 ms, and the answer to a probe
// arrives 20 ms after the probe.
func ExampleWatch() {
	at := func(d adaptive.Duration) adaptive.Time { return adaptive.Time(d) }
	since := func(t adaptive.Time) adaptive.Duration { return adaptive.Duration(t) }

	var w adaptive.Watch
	w.Start(at(0), adaptive.QoS{Detection: 10 * adaptive.Second}, adaptive.Limits{})
	fmt.Println("to request: a beat each", w.Wanted())

	w.Heard(at(50*adaptive.Millisecond), adaptive.Beat{Period: w.Wanted()}, false)
	fmt.Println("next beat after", since(w.Expected()), "or suspected after", since(w.Freshness()))

	w.Answered(at(60*adaptive.Millisecond), 20*adaptive.Millisecond, false)
	fmt.Println("round trip", w.Network().RTT, "or suspected after", since(w.Freshness()))
	fmt.Println(w.Setting().Period == w.Period(), w.Setting().Shift == w.TimeToSuspect()-w.Period())
	fmt.Println("attainable:", w.Quality().Attainable)
	// Output:
	// to request: a beat each 2.21783s
	// next beat after 2.26783s or suspected after 9.05s
	// round trip 20ms or suspected after 9.04s
	// true true
	// attainable: true
}

// Of ten seconds for the detection, the beat takes up to 40 ms, and the answer of the suspect up to
// one second.
func ExampleTimeToSuspect() {
	n := adaptive.Network{RTT: 40 * adaptive.Millisecond}
	fmt.Println(adaptive.TimeToSuspect(n, adaptive.QoS{Detection: 10 * adaptive.Second}, adaptive.Limits{}))
	// Output: 8.96s
}

// A program checks the quality that its user requires, and shows the defaults of the other values.
func ExampleQoS_Check() {
	q := adaptive.QoS{Detection: 10 * adaptive.Second}
	l := adaptive.Limits{Confirm: 2 * adaptive.Second}
	fmt.Println(q.Check(), l.Check(q))
	fmt.Println("a mistake lasts", q.WithDefaults().Duration, "at most")
	fmt.Println("the period is at least", l.WithDefaults(q).PeriodMin)

	fmt.Println(adaptive.QoS{Detection: adaptive.Millisecond}.Check())
	fmt.Println(adaptive.Limits{Confirm: 6 * adaptive.Second}.Check(q))
	// Output:
	// <nil> <nil>
	// a mistake lasts 60s at most
	// the period is at least 10ms
	// quality of detection: detection within 1ms, want 200ms to 86400s
	// quality of detection: time to confirm 6s, want at most half of the detection time
}

// A beat with a tag crosses an untrusted network. The receiver finds the key by the number of the
// stream, and drops a message that was changed on its way.
func ExampleSeal() {
	keys := map[uint32][]byte{7: []byte("0123456789abcdef")}
	sealed := adaptive.Seal(nil, keys[7], adaptive.Beat{Stream: 7, Seq: 1, Period: adaptive.Second})

	stream, _ := adaptive.StreamOf(sealed)
	body, genuine := adaptive.Unseal(keys[stream], sealed)
	beat, isBeat := adaptive.ParseBeat(body)
	fmt.Println(len(sealed), "bytes:", genuine, isBeat, "beat", beat.Seq, "each", beat.Period)

	sealed[8]++ // the number of the beat
	_, genuine = adaptive.Unseal(keys[stream], sealed)
	fmt.Println("changed:", genuine)
	// Output:
	// 32 bytes: true true beat 1 each 1s
	// changed: false
}

// Messages over an authenticated connection need no tag.
func ExampleAppendMessage() {
	request := adaptive.AppendMessage(nil, adaptive.Probe{Stream: 7, Clock: adaptive.Time(adaptive.Second)})
	m, err := adaptive.ParseMessage(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	probe := m.(adaptive.Probe)
	answer := adaptive.AppendMessage(nil, adaptive.Echo(probe))
	m, err = adaptive.ParseMessage(answer)
	fmt.Printf("%d bytes: %+v %v\n", len(answer), m, err)
	_, err = adaptive.ParseMessage(answer[1:])
	fmt.Println(err)
	// Output:
	// 24 bytes: {Stream:7 Clock:1000000000} <nil>
	// malformed heartbeat message
}
