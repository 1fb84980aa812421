package fd

import (
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// nobody is no process.
const nobody = -1

// heardMax bounds the messages of the emitter that are kept until the next Tick: as many beats as a
// Watch can distinguish.
const heardMax = 64

// An observation holds the measurements of the present emitter, with Config.Adaptive. Each emitter
// has a new observation: measurements of the path from one process do not apply to the path from
// another.
type observation struct {
	of      int // the emitter; nobody until the next Tick
	watch   adaptive.Watch
	heard   []adaptive.Message // since the last Tick; nil for a mere sign of life
	request uint16             // number of the latest request
	ask     mono.Time          // when NEWOBSERVER is sent again
	mercy   mono.Time          // no suspicion before: the emitter is new, or this process was late
	known   bool               // a beat has come, and an answer after it
	beaten  bool               // a beat has come
	looked  bool               // no beat has come, or a Tick has come since the next one is overdue
	late    bool               // this Tick was late: messages received before may have waited
	wasLate bool               // so was the Tick before: messages received since may have waited, too
}

// Times of NEWOBSERVER, beside those that a request needs.
const (
	askFirst = 8  // so many within a Timeout, until the emitter beats and has answered
	askEach  = 80 // periods, to measure the way again
)

// observe gives the time to the observation: messages of the emitter since the last Tick count as
// received now, and a NEWOBSERVER that is due is sent.
func (d *Detector) observe() {
	o := d.observation
	if d.Alone() {
		return
	}
	if o.of != d.emitter {
		d.beginObservation()
	}
	if len(o.heard) > 0 {
		for _, told := range o.heard {
			d.weigh(told, o.late || o.wasLate)
		}
		clear(o.heard)
		o.heard = o.heard[:0]
	}
	d.silence.at = max(mono.Time(o.watch.Freshness()), o.mercy)
	if d.now >= o.overdue() {
		o.looked = true
	}
	if d.now >= o.ask {
		d.askEmitter()
	}
}

// beginObservation starts to observe a new emitter, which may first have to learn of its new
// observer (T3): until the first heartbeat the timer sets its time limit.
func (d *Detector) beginObservation() {
	o := d.observation
	*o = observation{of: d.emitter, heard: o.heard[:0], mercy: d.silence.at, looked: true, late: o.late, wasLate: o.wasLate}
	o.watch.Start(adaptive.Time(d.now), *d.cfg.Adaptive, d.cfg.limits())
	o.ask = d.now.Add(d.cfg.Timeout / askFirst)
}

// hear stores a message of the emitter until the next Tick, of more than heardMax the latest.
// Before the first Tick of an observation messages are dropped.
func (d *Detector) hear(told adaptive.Message) {
	o := d.observation
	if o.of != d.emitter || !d.ringing() {
		return // a new emitter will be asked
	}
	if len(o.heard) == heardMax {
		o.heard = slices.Delete(o.heard, 0, 1)
	}
	o.heard = append(o.heard, told)
	d.silence.ticked = false // the freshness point has changed; the next Tick computes its value
}

// weigh evaluates one message of the emitter. A message that may have waited here, because this
// process was late, is a sign of life and no measurement of the path (B17).
func (d *Detector) weigh(told adaptive.Message, late bool) {
	o, now := d.observation, adaptive.Time(d.now)
	changed := false
	switch told := told.(type) {
	case adaptive.Beat:
		changed = o.watch.Heard(now, told, late)
		o.beaten, o.looked = true, false
		if told.Epoch != o.request {
			o.ask = d.now // the latest request was lost, or is still under way
		}
	case adaptive.Echo:
		changed = o.watch.Answered(now, now.Sub(told.Clock), late)
		o.known = o.beaten
	default:
		o.watch.Answered(now, 0, late)
	}
	if changed {
		o.request++
		o.ask = d.now
	}
	if !late && o.watch.Freshness() > now {
		o.mercy = 0
	}
}

// askEmitter requests the period that the quality requires, and an answer, which measures the path.
func (d *Detector) askEmitter() {
	o := d.observation
	wait := d.cfg.Timeout / askFirst
	if o.known {
		wait = askEach * mono.Duration(o.watch.Wanted())
	}
	o.ask = d.now.Add(wait)
	d.mail(d.emitter, tellingMessage(kindNewObserver, d.flood.Digest(), adaptive.Adjust{
		Epoch: o.request, Clock: adaptive.Time(d.now), Period: o.watch.Wanted(), Echo: true,
	}))
}

// deadline returns when the observation next requires a Tick.
func (o *observation) deadline() mono.Time {
	if o.looked {
		return o.ask
	}
	return min(o.ask, o.overdue())
}

// overdue returns when a beat is late by a quarter of a period. A Tick in time at that moment shows
// that this process is not the late one.
func (o *observation) overdue() mono.Time {
	return mono.Time(o.watch.Expected().Add(o.watch.Period() / 4))
}

// lateAtMost is by how much a Tick may be late without harm.
func (d *Detector) lateAtMost() mono.Duration {
	if d.observation != nil {
		return mono.Duration(d.observation.watch.Period() / 4)
	}
	return d.cfg.Period
}
