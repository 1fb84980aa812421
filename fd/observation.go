package fd

import (
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// nobody is no process.
const nobody = -1

// heardMax bounds what is kept of the emitter until the next Tick: as many beats as a Watch
// tells apart.
const heardMax = 64

// An observation is what is known of the present emitter, with Config.Adaptive. Each emitter
// has a new one: what is known of the way from one process says nothing of the way from another.
type observation struct {
	of      int // the emitter; nobody until the next Tick
	watch   adaptive.Watch
	heard   []adaptive.Message // since the last Tick; nil for a sign of life that tells nothing
	wish    uint16             // number of the latest wish
	ask     mono.Time          // when NEWOBSERVER goes out again
	mercy   mono.Time          // no suspicion before: the emitter is new, or this process was late
	known   bool               // a beat has come, and an answer
	beaten  bool               // a beat has come
	looked  bool               // the moment at which a beat is overdue has passed in time, or none has come yet
	late    bool               // this Tick came late: what was heard before it may have waited
	wasLate bool               // so did the one before: the same of what was heard since
}

// Times of NEWOBSERVER, beside those that a wish needs.
const (
	askFirst = 8  // so many within a Timeout, until the emitter beats and has answered
	askEach  = 80 // periods, to measure the way again
)

// observe gives the time to the observation: what the emitter has said since the last Tick
// counts as having come now, and what NEWOBSERVER is due goes out.
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

// beginObservation is of a new emitter, which may have to learn first that it has a new observer
// (T3): until it was heard, it has as long as the timer says.
func (d *Detector) beginObservation() {
	o := d.observation
	*o = observation{of: d.emitter, heard: o.heard[:0], mercy: d.silence.at, looked: true, late: o.late, wasLate: o.wasLate}
	o.watch.Start(adaptive.Time(d.now), *d.cfg.Adaptive, d.cfg.limits())
	o.ask = d.now.Add(d.cfg.Timeout / askFirst)
}

// hear notes what the emitter has said.
func (d *Detector) hear(told adaptive.Message) {
	o := d.observation
	if o.of != d.emitter || !d.ringing() {
		return // it is new, and will be asked
	}
	if len(o.heard) == heardMax {
		o.heard = slices.Delete(o.heard, 0, 1)
	}
	o.heard = append(o.heard, told)
	d.silence.ticked = false // the freshness point is another one now; which one, the Tick tells
}

// weigh takes one thing that the emitter has said. What may have waited here, because this
// process was late, is a sign of life and says nothing of the way (B17).
func (d *Detector) weigh(told adaptive.Message, late bool) {
	o, now := d.observation, adaptive.Time(d.now)
	changed := false
	switch told := told.(type) {
	case adaptive.Beat:
		changed = o.watch.Heard(now, told, late)
		o.beaten, o.looked = true, false
		if told.Epoch != o.wish {
			o.ask = d.now // the latest wish was lost, or is still under way
		}
	case adaptive.Echo:
		changed = o.watch.Answered(now, now.Sub(told.Clock), late)
		o.known = o.beaten
	default:
		o.watch.Answered(now, 0, late)
	}
	if changed {
		o.wish++
		o.ask = d.now
	}
	if !late && o.watch.Freshness() > now {
		o.mercy = 0
	}
}

// askEmitter says which period is wanted, and asks for an answer, which measures the way.
func (d *Detector) askEmitter() {
	o := d.observation
	wait := d.cfg.Timeout / askFirst
	if o.known {
		wait = askEach * mono.Duration(o.watch.Wanted())
	}
	o.ask = d.now.Add(wait)
	d.mail(d.emitter, tellingMessage(kindNewObserver, d.flood.Digest(), adaptive.Adjust{
		Epoch: o.wish, Clock: adaptive.Time(d.now), Period: o.watch.Wanted(), Echo: true,
	}))
}

// deadline returns when the observation next wants a Tick.
func (o *observation) deadline() mono.Time {
	if o.looked {
		return o.ask
	}
	return min(o.ask, o.overdue())
}

// overdue is when a beat is late by a quarter of a period. If the Tick comes in time then, it is
// not this process that is late.
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
