package cluster

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// lane separates two channels from a process to another, as the engine has two rings for each pair.
type lane int

const (
	controlLane lane = iota
	dataLane
	lanes
)

// late is the delay above which a frame counts as in the heavy tail.
const late = 20 * world.MessageDelay

// lateMax bounds every delay: see world.Tape.Tail.
const lateMax = 2 * 12 * 12 * 10 * world.MessageDelay

// network delays frames. Those of one lane between two processes arrive in the order in which they
// were sent, as on a ring or a connection. No other frames are ordered. Only a death destroys
// frames.
type network struct {
	n     int
	whole int   // processes of the whole run, by whose names choices are made
	names []int // by process
	tape  world.Tape
	tails bool
	most  mono.Duration // no frame takes longer; 0 = unbounded
	links []link        // from i to j at i*n+j
}

// link is one direction between two processes.
type link struct {
	slow   bool // frames always take long
	shutTo mono.Time
	lanes  [lanes]wire
}

// wire is one lane of a link.
type wire struct {
	sent   int
	open   int       // of these, not arrived
	latest mono.Time // arrival
	cut    mono.Time // later arrivals are lost; 0 = none
}

func newNetwork(t world.Tape, s swarm, p *part) *network {
	w := &network{n: s.n, whole: max(p.whole, s.n), tape: t, tails: s.tails, most: s.detector.delayMax(), links: make([]link, s.n*s.n)}
	for proc := range s.n {
		w.names = append(w.names, p.nameOf(proc))
	}
	for i := range w.links {
		slow := t.Fork(forSlowPair, w.name(i/s.n, i%s.n), 0)
		w.links[i].slow = slow.Percent(s.slowPairs)
	}
	return w
}

// name returns the key by which choices about a link are drawn.
func (w *network) name(from, to int) int { return w.names[from]*w.whole + w.names[to] }

func (w *network) link(from, to int) *link { return &w.links[from*w.n+to] }

// arrival draws the arrival time of a frame that is sent now.
func (w *network) arrival(on lane, from, to int, now mono.Time, slow bool) mono.Time {
	l := w.link(from, to)
	x := &l.lanes[on]
	t := w.tape.Fork(forDelay, w.name(from, to)*int(lanes)+int(on), x.sent)
	x.sent++
	x.open++
	delay := world.MessageDelay/10 + t.Uniform(world.MessageDelay)
	if w.tails {
		delay += t.Tail(world.MessageDelay)
	}
	if slow || l.slow {
		delay += t.Tail(10 * world.MessageDelay)
	}
	at := max(now.Add(delay), l.shutTo)
	if w.most > 0 {
		at = min(at, now.Add(w.most))
	}
	x.latest = max(x.latest+1, at)
	return x.latest
}

// shut holds back the frames that are sent from one process to another from now on.
func (w *network) shut(from, to int, until mono.Time) {
	l := w.link(from, to)
	l.shutTo = max(l.shutTo, until)
}

// lose destroys, towards each process and on each lane, a random part of the dead process's frames
// on the way: the last frames, never one in the middle.
func (w *network) lose(from int, now mono.Time) {
	t := w.tape.Fork(forLoss, w.names[from], 0)
	for to := range w.n {
		for on := range lanes {
			x := &w.link(from, to).lanes[on]
			if left := x.latest.Sub(now); left > 0 {
				x.cut = now.Add(t.UpTo(left + 1))
			}
		}
	}
}

// arrives takes a frame off the way and reports whether the frame has survived.
func (w *network) arrives(on lane, from, to int, at mono.Time) bool {
	x := &w.link(from, to).lanes[on]
	x.open--
	return x.cut == 0 || at <= x.cut
}
