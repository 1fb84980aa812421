package nodes

import (
	"fmt"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/membership"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// The purposes of choices in runs of nodes, besides those of other runs.
const (
	forStation world.Purpose = iota + 100
	forNodeFault
	forBeat
	forLateDaemon
	forRing
	forCable
	forDial
	forBreaking
	forFound
	forNodeNews
	forNodeThink
	forNodeCall
	forLetter
	forResume
)

// drawing is a purpose and the item for which choices are drawn.
type drawing struct {
	what world.Purpose
	whom int
}

// draw returns the next choices for one purpose and one item. They are independent of the choices
// for other items. So a fault that is left out changes its own consequences, and little else.
func (r *nodeRun) draw(what world.Purpose, whom int) *world.Tape {
	at := drawing{what, whom}
	r.drawn[at]++
	t := r.tape.Fork(what, whom, r.drawn[at])
	return &t
}

// nodeSetup holds the parameters of a run.
type nodeSetup struct {
	sizes    []int // ranks, by node
	survive  bool  // the job outlives its launcher
	flat     bool  // agreements by messages alone; otherwise in two levels
	closes   bool  // programs free the communicators that they made, and finalize
	period   mono.Duration
	link     mono.Duration // see membership.Config, as orphan
	orphan   mono.Duration
	jitter   mono.Duration // greatest delay of a daemon's timer
	sleepy   mono.Duration // greatest delay of a daemon or rank on a machine that resumes after a pause
	delay    mono.Duration // typical, of a message between machines
	tails    bool          // some messages are much later
	loss     int           // percent, of datagrams, until the faults are over
	copied   int           // bytes that a lane keeps
	news     mono.Duration // typical time until a rank reads the list
	safety   mono.Duration // faults begin and end before
	faults   int
	within   mono.Duration // faults begin before
	calls    int           // on the world
	think    mono.Duration // typical time between two calls
	bursts   int           // calls open at once, in a series
	ack      int           // percent: a program acknowledges before it calls
	revokes  int           // percent: a rank revokes a communicator at some point
	letters  int           // most messages that a program sends to ranks of other nodes
	together int           // percent: a fault comes right after another one
	racks    []int         // by member, see membership.Config.Racks; nil: none is known
	detect   mono.Duration // bound on the detection of a silent node, with few heartbeats; 0: fixed times
}

func drawNodes(t *world.Tape, o Options) nodeSetup {
	s := nodeSetup{survive: t.Percent(50), flat: t.Percent(25), closes: t.Percent(70), tails: t.Percent(40)}
	nodes := []int{2, 3, t.Between(2, 4), t.Between(3, 5)}[t.Below(4)]
	if o.Nodes > 0 {
		nodes = o.Nodes
	}
	most := []int{1, 2, 3, 3}[t.Below(4)]
	for range nodes {
		s.sizes = append(s.sizes, t.Between(1, most))
	}
	s.period = []mono.Duration{10, 10, 20, 40}[t.Below(4)] * mono.Millisecond
	timeout := 5 * s.period
	s.link = []mono.Duration{2, 8}[t.Below(2)] * timeout
	s.orphan = []mono.Duration{4, 12, 40}[t.Below(3)] * timeout
	s.jitter = []mono.Duration{100 * mono.Microsecond, mono.Millisecond}[t.Below(2)]
	s.sleepy = []mono.Duration{s.jitter, s.period}[t.Below(2)]
	s.delay = []mono.Duration{100 * mono.Microsecond, s.period / 50, s.period / 8}[t.Below(3)]
	s.loss = []int{0, 0, 5, 20}[t.Below(4)]
	s.copied = []int{2 << 10, 8 << 10, 64 << 10}[t.Below(3)]
	s.news = []mono.Duration{20 * mono.Microsecond, s.delay, 4 * s.delay}[t.Below(3)]
	s.safety = mono.Duration(t.Between(8, 20)) * timeout
	s.faults = []int{0, 1, 2, 3, t.Between(2, 6), t.Between(4, 12)}[t.Below(6)]
	s.calls = t.Between(4, 24)
	s.letters = []int{0, 4, 20}[t.Below(3)]
	s.within = s.safety
	switch t.Below(8) {
	case 0: // long: lanes complain after a second
		s.safety = max(s.safety, 4*mono.Second+2*s.link)
		s.letters, s.within = 40, s.safety
	case 1, 2, 3, 4: // short: all events happen while agreements are in progress
		s.safety, s.think = 4*timeout, 2*s.delay
		s.within = min(s.safety, mono.Duration(s.calls)*6*s.delay)
		s.faults = t.Between(1, 6)
	}
	if s.think == 0 {
		s.think = s.safety / mono.Duration(s.calls+s.letters+t.Between(1, 12))
	}
	s.bursts = []int{1, 1, 2, 4}[t.Below(4)]
	s.ack = []int{0, 50, 90, 100}[t.Below(4)]
	s.revokes = []int{0, 0, 10, 30}[t.Below(4)]
	s.together = []int{0, 30, 70}[t.Below(3)]
	s.detect = []mono.Duration{0, 0, 5, 20}[t.Below(4)] * timeout / 4
	if s.detect > 0 {
		s.detect = max(s.detect, mono.Duration(adaptive.DetectionMin))
	}
	if t.Percent(40) {
		for range nodes + 1 {
			s.racks = append(s.racks, t.Below(3))
		}
	}
	return s
}

func (s nodeSetup) String() string {
	return fmt.Sprintf("ranks=%v survive=%v flat=%v closes=%v period=%v link=%v orphan=%v jitter=%v sleepy=%v delay=%v tails=%v loss=%d copied=%d news=%v safety=%v faults=%d within=%v calls=%d think=%v bursts=%d ack=%d revokes=%d letters=%d together=%d racks=%v detect=%v",
		s.sizes, s.survive, s.flat, s.closes, s.period, s.link, s.orphan, s.jitter, s.sleepy, s.delay, s.tails, s.loss, s.copied, s.news, s.safety, s.faults, s.within, s.calls, s.think, s.bursts, s.ack, s.revokes, s.letters, s.together, s.racks, s.detect)
}

// timeout returns the duration of a lease.
func (s nodeSetup) timeout() mono.Duration { return 5 * s.period }

// roster returns the configuration of a member. The clock of the member shows start when the job
// begins.
func (s nodeSetup) roster(me int, start mono.Time) membership.Config {
	c := membership.Config{
		Members: len(s.sizes) + 1, Me: me, Survive: s.survive, Period: s.period, Timeout: s.timeout(),
		Link: s.link, Orphan: s.orphan, Start: start, Racks: s.racks,
	}
	if s.detect > 0 {
		c.Adaptive = &adaptive.QoS{Detection: adaptive.Duration(s.detect)}
	}
	return c
}
