package fd

import (
	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// A rhythm is the schedule of the heartbeats to the observer, with Config.Adaptive: each has a
// number, the moment when it was due, and the time to the next heartbeat (adaptive.Beat).
//
//	observer                                emitter
//	   │◀────────────────── beat 7, request 0 ─│
//	   │  the way is good: fewer will do       │
//	   │── NEWOBSERVER, request 1: 60 ms ───▶  │  lost
//	   │◀────────────────── beat 8, request 0 ─│
//	   │── NEWOBSERVER, request 1: 60 ms ─────▶│
//	   │◀────────────────── beat 9, request 1 ─│  and the next one 60 ms later
//
// Request 0 is Config.Period, with which each observation begins at both ends, so no message need
// carry this period.
type rhythm struct {
	period    mono.Duration
	requested mono.Duration // the period from the next Tick on
	request   uint16        // number of the observer's request that this is
	seq       uint32        // of the next beat
}

// beatAsRequested is T1 with Config.Adaptive. A shorter period counts from the latest beat, a
// longer one from the next, which has been promised.
func (d *Detector) beatAsRequested() {
	r := &d.rhythm
	if r.requested != r.period {
		d.nextBeat = min(d.nextBeat, max(d.now, d.nextBeat.Add(r.requested-r.period)))
		r.period = r.requested
	}
	if d.now >= d.nextBeat {
		d.mail(d.observer, d.numberedBeat())
	}
}

// numberedBeat returns the latest beat that is due, and plans the next one. Heartbeats that a late
// process missed are left out, with their numbers: sent together they would measure nothing.
func (d *Detector) numberedBeat() []byte {
	r := &d.rhythm
	missed := d.now.Sub(d.nextBeat) / r.period
	due := d.nextBeat.Add(missed * r.period)
	beat := adaptive.Beat{Epoch: r.request, Seq: r.seq + uint32(missed), Nominal: adaptive.Time(due), Period: adaptive.Duration(r.period)}
	r.seq = beat.Seq + 1
	d.nextBeat = due.Add(r.period)
	return tellingMessage(kindHeartbeat, d.flood.Digest(), beat)
}

// obey accepts the request of a NEWOBSERVER, unless the request is older and was overtaken, and
// returns the heartbeat that answers.
func (d *Detector) obey(told adaptive.Message) []byte {
	a, tells := told.(adaptive.Adjust)
	if d.observation == nil || !tells {
		return digestMessage(kindHeartbeat, d.flood.Digest())
	}
	if int16(a.Epoch-d.rhythm.request) >= 0 {
		d.rhythm.request = a.Epoch
		d.rhythm.requested = mono.Duration(max(a.Period, adaptive.PeriodLeast))
	}
	if !a.Echo {
		return digestMessage(kindHeartbeat, d.flood.Digest())
	}
	return tellingMessage(kindHeartbeat, d.flood.Digest(), adaptive.Echo{Clock: a.Clock})
}

// turnTo sends the heartbeats to another observer from now on. The new observer knows nothing of
// this process yet, so the request of the former observer no longer applies.
func (d *Detector) turnTo(observer int) {
	if observer == d.observer {
		return
	}
	d.observer = observer
	if d.observation != nil {
		d.rhythm.request, d.rhythm.requested = 0, d.cfg.Period
	}
}
