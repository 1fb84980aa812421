package adaptive

import "github.com/goulfm/goulfm/internal/base/must"

// An Occurrence is something that happened at the process that is observed: Accept,
// Adjusted, Probed, Release or Instant. Observer is the place of an observing process in
// the Emitter, from 0 up to PeersMax.
type Occurrence interface{ emitted() }

// Accept begins to send beats to an observer, in place of its former stream: the owner has verified
// the identity of the observer, and that it answers at its address. A repeated Accept of the same
// stream is an Adjusted: numbers of beats only grow.
type Accept struct {
	Observer int
	At       Time
	Adjust   Adjust
}

// Adjusted is the arrival of an Adjust.
type Adjusted struct {
	Observer int
	At       Time
	Adjust   Adjust
}

// Probed is the arrival of a Probe.
type Probed struct {
	Observer int
	At       Time
	Probe    Probe
}

// Release ends the beats to an observer.
type Release struct{ Observer int }

// Instant gives the current time.
type Instant struct{ Now Time }

func (Accept) emitted()   {}
func (Adjusted) emitted() {}
func (Probed) emitted()   {}
func (Release) emitted()  {}
func (Instant) emitted()  {}

// Reply hands a message to an observer: as a datagram, or ByLink, over the connection.
// A Beat for which there is no room is thrown away, not kept: its number is skipped.
type Reply struct {
	Observer int
	Message  Message
	ByLink   bool
}

// silentAfter is the number of periods without a message of the observer after which its beats end.
const silentAfter = 30

// An Emitter sends this process's beats to its observers.
type Emitter struct {
	streams []stream
	timers  timers
	out     []Reply
}

// stream is the state of the beats to one observer. The period is 0 if there is none.
type stream struct {
	number  uint32
	seq     uint32 // of the next beat
	last    Time   // nominal time of the latest beat
	next    Time   // nominal time of the next one
	period  Duration
	renewed Time // the last message of the observer
	epoch   uint16
	byLink  bool
	silent  bool // the observer was silent for too long: no beat until its next message
}

// Deadline returns when the emitter next requires an Instant, if ever.
func (e *Emitter) Deadline() (Time, bool) {
	_, at, ok := e.timers.earliest()
	return at, ok
}

// Step applies an occurrence. The replies are valid until the next Step.
func (e *Emitter) Step(ev Occurrence) []Reply {
	e.out = emptied(e.out)
	switch ev := ev.(type) {
	case Accept:
		if e.has(ev.Observer, ev.Adjust.Stream) {
			e.adjust(Adjusted(ev))
		} else {
			e.accept(ev)
		}
	case Adjusted:
		if e.has(ev.Observer, ev.Adjust.Stream) {
			e.adjust(ev)
		}
	case Probed:
		if e.has(ev.Observer, ev.Probe.Stream) {
			e.echo(ev.Observer, ev.Probe.Clock)
			e.renew(ev.Observer, ev.At)
		}
	case Release:
		*e.stream(ev.Observer) = stream{}
		e.timers.stop(ev.Observer)
	case Instant:
		e.beat(ev.Now)
	}
	return e.out
}

func (e *Emitter) stream(observer int) *stream {
	must.That(observer >= 0 && observer < PeersMax, "observer %d, want 0 to %d", observer, PeersMax-1)
	if more := observer + 1 - len(e.streams); more > 0 {
		e.streams = append(e.streams, make([]stream, more)...)
		e.timers.grow(cap(e.streams))
	}
	return &e.streams[observer]
}

// has reports whether stream is the present one to an observer.
func (e *Emitter) has(observer int, stream uint32) bool {
	s := e.stream(observer)
	return s.number == stream && s.period > 0
}

// accept begins a stream: its first beat is due at once.
func (e *Emitter) accept(ev Accept) {
	s := e.stream(ev.Observer)
	a := ev.Adjust
	at := clock(ev.At)
	*s = stream{number: a.Stream, last: at, next: at, period: a.Period, renewed: ev.At, epoch: a.Epoch, byLink: a.ByLink}
	if a.Echo {
		e.echo(ev.Observer, a.Clock)
	}
	e.timers.set(ev.Observer, s.next)
}

// adjust adopts a new period, unless the epoch is older: an Adjust that was overtaken is obsolete.
// The latest Adjust may arrive repeatedly.
//
// A shorter period counts from the latest beat, and a beat that is due by that is due now, not
// late. A longer period counts from the next beat, which has been promised.
func (e *Emitter) adjust(ev Adjusted) {
	s, a := e.stream(ev.Observer), ev.Adjust
	if a.Echo {
		e.echo(ev.Observer, a.Clock)
	}
	if int16(a.Epoch-s.epoch) >= 0 {
		s.epoch, s.period, s.byLink = a.Epoch, a.Period, a.ByLink
		s.next = min(s.next, max(clock(ev.At), s.last.Add(a.Period)))
	}
	e.renew(ev.Observer, ev.At)
}

// renew records a sign of life of the observer, and resumes a stream that had fallen silent. Its
// next beat has the next number: none was lost.
func (e *Emitter) renew(observer int, at Time) {
	s := e.stream(observer)
	if s.silent {
		s.next, s.silent = clock(at), false
	}
	s.renewed = max(s.renewed, at)
	e.timers.set(observer, s.next)
}

// clock rounds a moment down to the microseconds of a beat.
func clock(at Time) Time { return at - at%Time(Microsecond) }

func (e *Emitter) echo(observer int, clock Time) {
	s := e.stream(observer)
	e.out = append(e.out, Reply{Observer: observer, ByLink: s.byLink, Message: Echo{Stream: s.number, Clock: clock}})
}

// beat sends all beats that are due.
func (e *Emitter) beat(now Time) {
	for {
		observer, at, ok := e.timers.earliest()
		if !ok || at > now {
			return
		}
		e.beatTo(observer, now)
	}
}

// beatTo sends the latest beat that is due to one observer. Beats that a late process has missed
// are left out, with their numbers: sent together they would measure nothing, and the numbers show
// the observer the missing beats.
func (e *Emitter) beatTo(observer int, now Time) {
	s := e.stream(observer)
	if now.Sub(s.renewed) > silentAfter*s.period {
		s.silent = true
		e.timers.stop(observer)
		return
	}
	missed := now.Sub(s.next) / s.period
	s.seq += uint32(missed)
	s.last = s.next.Add(missed * s.period)
	s.next = s.last.Add(s.period)
	e.out = append(e.out, Reply{Observer: observer, ByLink: s.byLink, Message: Beat{
		Stream: s.number, Epoch: s.epoch, Seq: s.seq, Nominal: s.last, Period: s.period,
	}})
	s.seq++
	e.timers.set(observer, s.next)
}
