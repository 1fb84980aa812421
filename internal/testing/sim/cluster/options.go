package cluster

import (
	"fmt"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// ProcessesMax is the largest world: a member's contribution to a flag is one bit.
const ProcessesMax = 64

// Options are the parameters of a run. A parameter that is not set is drawn from Seed.
type Options struct {
	Seed       uint64
	N          int           // processes, 2 to ProcessesMax; 0 = drawn
	NMax       int           // most processes that are drawn; 0 = ProcessesMax
	Agreements int           // agreements on the world besides finalize; communicators made on the way add theirs; 0 = drawn
	Watchdog   mono.Duration // of agreements; 0 = off, as it should be
	Detector   Detector      // Drawn = drawn
	Agree      Agree         // if Node, a drawn Detector is Exact
	Trace      func(line string)

	// Diagram, if not nil, collects what a space-time diagram shows.
	Diagram *Diagram

	// Done, if not nil, is called with the report of each run of RunMany, one at a time.
	Done func(Report)

	given *Case  // parameters and faults of the run, in place of drawn ones
	like  *swarm // parameters of the run, in place of drawn ones
}

// flags returns the flags that the replay command needs besides the seed: a seed gives the same run
// only with the same options.
func (o Options) flags() string {
	text := ""
	for _, f := range []struct {
		name  string
		value int
	}{{"n", o.N}, {"nmax", o.NMax}, {"agreements", o.Agreements}, {"watchdog", int(o.Watchdog)}} {
		if f.value != 0 {
			text += fmt.Sprintf(" -%s %d", f.name, f.value)
		}
	}
	if o.Detector != Drawn {
		text += fmt.Sprintf(" -detector %v", o.Detector)
	}
	if o.Agree != Both {
		text += fmt.Sprintf(" -agree %v", o.Agree)
	}
	return text
}

// swarm holds the parameters of a run. Runs that differ in kind find more faults than runs that
// differ in detail only.
type swarm struct {
	n, agreements int
	detector      Detector

	tails       bool          // message delays have a heavy tail
	slowPairs   int           // percent: frames from one process to another always take long
	noticeDelay mono.Duration // typical time until a survivor learns of a death
	safety      mono.Duration // faults happen until then; the liveness phase follows
	deaths      int           // planned; each may cause others
	cascade     int           // percent: a death takes a relative with it
	midStep     int           // percent: a death or a pause comes within the sends of one step
	loses       int           // percent: a death destroys part of the frames on the way
	lastWords   int           // percent: the frames of a process's last step are very slow
	pauses      int           // processes that stop for a while and continue
	slows       int           // processes that keep stopping for a while
	partitions  int           // times when frames between two groups of processes are held back
	stalls      int           // times when frames from one process to one other are held back
	bursts      int           // calls a program may have open in one series
	traffic     int           // messages that a program sends to a neighbour, at most
	ack         int           // percent: a program acknowledges before agree, agree_failed or shrink
	revokes     int           // percent: a program revokes a communicator; times 3/size above 3 members
	creations   int           // dups and splits per communicator, at most
	closes      bool          // programs free the communicators that they made, and finalize
	memory      bool          // processes agree in memory
	uniform     bool          // a failure of a member revokes a communicator
	gatherings  int           // creations from a group per communicator, at most
	longs       int           // percent: a message is long
}

// The purposes of choices in runs of clusters, besides those of all runs.
const (
	forFaults world.Purpose = iota + 2
	forDelay
	forSlowPair
	forNotice
	forLoss
	forCascade
	forThink
	forChoice
	forRevoke
	forAck
	forTraffic
	forLook
	forPlain
	forDelays
)

func drawSwarm(t world.Tape, o Options) swarm {
	s := swarm{n: o.N, agreements: o.Agreements, detector: o.Detector}
	if s.n == 0 {
		s.n = []int{t.Between(2, 5), t.Between(2, 8), t.Between(6, 16), t.Between(2, ProcessesMax)}[t.Below(4)]
		if o.NMax > 0 {
			s.n = min(s.n, o.NMax)
		}
	}
	if s.agreements == 0 {
		s.agreements = t.Between(3, 16)
	}
	if s.detector == Drawn {
		s.detector = []Detector{Exact, Exact, Exact, Exact, Exact, Exact, Ring, Ring, Wild, Wild}[t.Below(10)]
		if o.Agree == Node {
			s.detector = Exact
		}
	}
	s.memory = o.inMemory(s.detector)
	s.tails = t.Percent(60)
	s.slowPairs = []int{0, 10, 40}[t.Below(3)]
	s.noticeDelay = []mono.Duration{world.MessageDelay / 5, world.MessageDelay, 4 * world.MessageDelay, 30 * world.MessageDelay}[t.Below(4)]
	s.safety = []mono.Duration{5 * mono.Millisecond, 20 * mono.Millisecond, mono.Second}[t.Below(3)]
	if s.detector == Wild {
		s.safety = min(s.safety, 20*mono.Millisecond)
	}
	s.deaths = drawDeaths(&t, s.n)
	s.cascade = []int{0, 30, 70}[t.Below(3)]
	s.midStep = []int{0, 50, 90}[t.Below(3)]
	s.loses = []int{0, 50, 90}[t.Below(3)]
	s.lastWords = []int{0, 50, 90}[t.Below(3)]
	s.pauses = []int{0, 0, 1, 3}[t.Below(4)]
	s.slows = []int{0, 0, 0, 1, 2}[t.Below(5)]
	s.partitions = []int{0, 0, 1, 2}[t.Below(4)]
	s.stalls = []int{0, 0, 2, 4}[t.Below(4)]
	s.bursts = []int{1, 2, 3, 20}[t.Below(4)]
	s.traffic = []int{0, 0, 1, 3}[t.Below(4)]
	s.ack = []int{0, 50, 90, 100}[t.Below(4)]
	s.revokes = []int{0, 0, 10, 40}[t.Below(4)]
	s.creations = []int{0, 1, 3}[t.Below(3)]
	// A creation that a revocation ended early may stay open until its communicator is closed. A
	// watchdog would repeat its messages until then.
	s.closes = t.Percent(70) || o.Watchdog > 0
	s.uniform = t.Percent(10)
	s.gatherings = []int{0, 0, 3}[t.Below(3)]
	s.longs = []int{0, 40, 100}[t.Below(3)]
	return s
}

// drawDeaths prefers few deaths, and sometimes leaves one survivor.
func drawDeaths(t *world.Tape, n int) int {
	switch t.Below(8) {
	case 0:
		return 0
	case 1:
		return n - 1
	case 2, 3:
		return t.Below(n)
	}
	return min(t.Between(1, 4), n-1)
}

func (s swarm) String() string {
	text := ""
	for _, f := range s.fields() {
		text += " " + f.name + "=" + f.text()
	}
	return text[1:]
}
