package adaptive

import (
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/internal/base/eventqueue"
)

// A world is one Observer and the Emitters of several processes in virtual time, with a network
// that loses and delays their messages.
type world struct {
	now      Time
	agenda   eventqueue.Agenda[Time]
	observer Observer
	emitters []*process

	delay func() Duration // of each message
	lost  func() bool     // whether a message is lost
	pause bool            // the observer is stopped: arriving messages wait in unread
	deaf  bool            // no datagram arrives
	cut   bool            // no connection can be made either
	read  []func(at Time)

	said func(a Action) // gets all actions but Sends
	sent func(m Message)
}

// process is one that is observed.
type process struct {
	Emitter
	offset Duration // of its clock
	dead   bool
	paused bool
	unread []func()

	suspectedAt Time
	mistakes    int
	mistaken    Duration // sum
	declaredAt  Time
	declared    bool
}

func newWorld(n int) *world {
	w := &world{delay: func() Duration { return 0 }, lost: func() bool { return false }, said: func(Action) {}, sent: func(Message) {}}
	for range n {
		w.emitters = append(w.emitters, &process{})
	}
	return w
}

func (w *world) plan(at Time, do func()) { w.agenda.Plan(max(at, w.now), do) }

// run lets time pass until a moment: events happen in the order of their times, and messages before
// the Ticks of the same moment.
func (w *world) run(until Time) {
	for {
		at, what := until, -2
		if next, ok := w.agenda.Next(); ok && next <= at {
			at, what = next, -1
		}
		if d, ok := w.observer.Deadline(); ok && !w.pause && d < at {
			at, what = d, len(w.emitters)
		}
		for i, p := range w.emitters {
			if d, ok := p.Deadline(); ok && !p.dead && !p.paused && d.Add(-p.offset) < at {
				at, what = d.Add(-p.offset), i
			}
		}
		w.now = max(w.now, at)
		switch {
		case what == -2:
			return
		case what == -1:
			_, do := w.agenda.Take()
			do()
		case what == len(w.emitters):
			w.observe(Tick{Now: w.now})
		default:
			w.emit(what, Instant{Now: w.now.Add(w.emitters[what].offset)})
		}
	}
}

func (w *world) observe(ev Event) {
	for _, a := range slices.Clone(w.observer.Step(ev)) {
		w.act(a)
	}
}

func (w *world) act(a Action) {
	switch a := a.(type) {
	case Send:
		w.sent(a.Message)
		w.carry(a.ByLink, func() { w.arrive(a.Peer, a.Message) })
		return
	case Suspect:
		w.emitters[a.Peer].suspectedAt = w.now
		w.dial(a.Peer)
	case Trust:
		p := w.emitters[a.Peer]
		p.mistakes++
		p.mistaken += w.now.Sub(p.suspectedAt)
	case Declare:
		p := w.emitters[a.Peer]
		p.declared, p.declaredAt = true, w.now
	}
	w.said(a)
}

// carry delivers a message in time, or loses the message. A link loses nothing.
func (w *world) carry(byLink bool, arrive func()) {
	if !byLink && (w.deaf || w.lost()) {
		return
	}
	w.plan(w.now.Add(w.delay()), arrive)
}

// dial makes a connection, which the network does not lose, and which a stopped process
// accepts later.
func (w *world) dial(i int) {
	p, from := w.emitters[i], w.now
	var accept func()
	accept = func() {
		switch {
		case p.dead:
		case p.paused:
			p.unread = append(p.unread, accept)
		default:
			w.plan(w.now.Add(w.delay()), func() { w.observe(Answered{Peer: i, At: w.now, RTT: w.now.Sub(from)}) })
		}
	}
	if !w.cut {
		w.plan(w.now.Add(w.delay()), accept)
	}
}

// arrive is the arrival of the observer's message at a process.
func (w *world) arrive(i int, m Message) {
	p := w.emitters[i]
	switch {
	case p.dead:
		return
	case p.paused:
		p.unread = append(p.unread, func() { w.arrive(i, m) })
		return
	}
	at := w.now.Add(p.offset)
	switch m := m.(type) {
	case Adjust:
		if s := p.stream(i); s.period == 0 || s.number != m.Stream {
			w.emit(i, Accept{Observer: i, At: at, Adjust: m})
			return
		}
		w.emit(i, Adjusted{Observer: i, At: at, Adjust: m})
	case Probe:
		w.emit(i, Probed{Observer: i, At: at, Probe: m})
	}
}

func (w *world) emit(i int, ev Occurrence) {
	for _, r := range slices.Clone(w.emitters[i].Step(ev)) {
		w.sent(r.Message)
		w.carry(r.ByLink, func() { w.hear(i, r.Message) })
	}
}

// hear is the arrival of a process's message at the observer, which may be stopped.
func (w *world) hear(i int, m Message) {
	read := func(at Time) {
		switch m := m.(type) {
		case Beat:
			w.observe(Heard{Peer: i, At: at, Beat: m})
		case Echo:
			w.observe(Answered{Peer: i, At: at, RTT: at.Sub(m.Clock)})
		}
	}
	if w.pause {
		w.read = append(w.read, read)
		return
	}
	read(w.now)
}

// resume lets the observer run again: the socket is read first.
func (w *world) resume() {
	w.pause = false
	for _, read := range w.read {
		read(w.now)
	}
	w.read = nil
	w.observe(Tick{Now: w.now})
}

// cont lets a process run again.
func (w *world) cont(i int) {
	p := w.emitters[i]
	p.paused = false
	for _, read := range p.unread {
		read()
	}
	p.unread = nil
}

// flaky gives the network losses and delays from a seed.
func (w *world) flaky(rng *rand.Rand, loss float64, delay func(*rand.Rand) float64) {
	w.lost = func() bool { return rng.Float64() < loss }
	w.delay = func() Duration { return fromSeconds(delay(rng)) }
}
