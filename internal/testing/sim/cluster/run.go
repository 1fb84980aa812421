package cluster

import (
	"fmt"
	"runtime/debug"

	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Report is the result of a run.
type Report struct {
	Seed          uint64
	Agreements    int // agreements with a decision at any process
	Decisions     int // answers to programs
	Plain         int // agreements that a process entered on the fast path
	Deaths        int
	Fenced        int  // processes that ended because others had declared them dead
	Crossed       bool // processes with wrong declarations that cross: see checker.differ
	Split         bool // and survivors that differ could not continue together
	Revokes       int  // calls of revoke
	Communicators int  // communicators of programs, counted at each member
	Frames        int
	Messages      int // sent from program to program
	Received      int
	Long          int           // of these, long ones
	TakenBack     int           // long messages that their senders withdrew, and sent again
	Steps         int           // events passed to the rules
	Time          mono.Duration // virtual
	Faults        int           // that happened
	Matrix        Matrix        // number of faults by kind and phase
	Hash          uint64        // of the trace: equal iff the runs are
	Swarm         string        // parameters of the run
}

// Violation is a broken invariant.
type Violation struct {
	Seed      uint64
	Invariant string
	Text      string
	Swarm     string
	Options   Options // of the run
	Case      Case    // the run, with the faults that happened
}

// Error returns the broken invariant and the command that replays the run: by its seed, or, for a
// run that was given as a script, by the script.
func (v *Violation) Error() string {
	replay := fmt.Sprintf("-replay %d%s", v.Seed, v.Options.flags())
	if v.Options.given != nil {
		replay = "-run FILE, with the script of the run (-script FILE writes it)"
	}
	return fmt.Sprintf("%s broken: %s\nrun: seed %d, %s, %d faults\nreplay: goulfm sim %s", v.Invariant, v.Text, v.Seed, v.Swarm, len(v.Case.Faults), replay)
}

const (
	// stepsMax bounds a run. No correct run comes near.
	stepsMax = 5_000_000
	// openMax bounds the frames that are on the way from one process to another.
	openMax = 1_000
	// settleMax bounds the time of a run with heartbeats after its last fault.
	settleMax = 2 * mono.Second
)

// simulation is one run.
type simulation struct {
	options   Options
	tape      world.Tape
	delays    world.Tape // of the network, of notices and of inspections
	swarm     swarm
	part      part
	adopted   map[commstate.UID]bool // names of the communicators of the run
	queue     queue
	net       *network
	procs     []*process
	spared    int // this process never crashes
	now       mono.Time
	lastFault mono.Time        // end of the last fault so far
	quietAt   mono.Time        // all programs are done since then; 0 = not done
	fired     []Fault          // in this order
	acting    []control.Action // of the step that is carried out
	check     *checker
	hash      world.Hash
	heap      *onenode.Heap   // memory of the node, if the processes agree in memory
	looks     map[lookAt]bool // inspections on the way
	looked    int             // inspections so far
	report    Report
	violation *Violation

	tamper func(event) []event // nil, except in tests of the checks
}

// Run carries out one run. The error is a *Violation.
func Run(o Options) (Report, error) {
	s := newSimulation(o)
	report := s.runToPanic()
	if s.violation != nil {
		s.violation.Case = s.caseOf()
		return report, s.violation
	}
	return report, nil
}

// runToPanic is run, except that a panic of the rules is a violation like any other, with a seed.
func (s *simulation) runToPanic() (report Report) {
	defer func() {
		if p := recover(); p != nil {
			s.report.Crossed = false // a panic is never excused
			s.fail("assert", "%v\n%s", p, debug.Stack())
			report = s.report
		}
	}()
	return s.run()
}

func (s *simulation) run() Report {
	for s.violation == nil && !s.settled() && !s.report.Split {
		ev, ok := s.queue.pop()
		if !ok {
			break
		}
		if s.tamper == nil {
			s.happen(ev)
			continue
		}
		for _, ev := range s.tamper(ev) {
			s.happen(ev)
		}
	}
	if s.violation == nil && !s.report.Split {
		s.check.final()
	}
	s.report.Time, s.report.Hash = s.now.Sub(world.Epoch), uint64(s.hash)
	return s.report
}

func newSimulation(o Options) *simulation {
	s := &simulation{options: o, tape: world.NewTape(o.Seed), hash: world.NewHash(), now: world.Epoch, adopted: map[commstate.UID]bool{}}
	s.swarm = drawSwarm(s.tape.Fork(world.ForSwarm, 0, 0), o)
	if o.given != nil {
		s.swarm, s.part = o.given.swarm, o.given.part
	}
	s.delays = s.tape
	if s.part.delays != 0 {
		s.delays = s.tape.Fork(forDelays, 0, int(s.part.delays))
	}
	if o.like != nil {
		s.swarm = *o.like
	}
	s.report.Seed, s.report.Swarm = o.Seed, s.swarm.String()
	s.net = newNetwork(s.delays, s.swarm, &s.part)
	s.check = newChecker(s)
	s.heap, s.looks = onenode.NewHeap(world.Blocks, s.moved), map[lookAt]bool{}
	for i := range s.swarm.n {
		cfg := control.Config{
			N: s.swarm.n, Me: i,
			Detector: s.swarm.detector.config(),
			Watchdog: o.Watchdog,
			Uniform:  s.swarm.uniform,
		}
		if s.swarm.memory {
			s.share(&cfg)
		}
		s.procs = append(s.procs, &process{id: i, match: match.New(), peers: make([]rendezvous.Peer, s.swarm.n), rules: control.New(cfg)})
	}
	if o.given == nil {
		s.planFaults()
	} else {
		for _, f := range o.given.Faults {
			s.plan(f)
		}
	}
	for _, p := range s.procs {
		newProgram(s, p)
		s.setAlarm(p)
	}
	return s
}

// caseOf returns the run with the faults that have happened so far.
func (s *simulation) caseOf() Case {
	c := Case{Seed: s.options.Seed, Watchdog: s.options.Watchdog, swarm: s.swarm, part: s.part, Faults: s.fired}
	c.part.only(func(name commstate.UID) bool { return s.adopted[name] })
	for _, p := range s.procs {
		c.calls = append(c.calls, p.called)
	}
	return c
}

// happen passes one event to its process, or keeps the event until the process continues.
func (s *simulation) happen(ev event) {
	s.now = ev.at
	if s.swarm.detector == Wild && s.calm() { // if delays were unbounded, they are bounded from now on
		s.net.most = delayMax
	}
	p := s.procs[ev.proc]
	if (ev.kind == arrival || ev.kind == message || ev.kind == piece) && !s.net.arrives(ev.lane(), ev.other, ev.proc, ev.at) || !p.running() {
		return
	}
	ev.addTo(&s.hash)
	switch {
	case ev.kind == resume:
		s.resume(p)
	case p.stopped && ev.kind == pulse: // already stopped
	case p.stopped:
		p.backlog = append(p.backlog, ev)
	default:
		s.give(p, ev)
	}
	if s.report.Steps > stepsMax {
		s.fail("I2", "no end after %d steps", stepsMax)
	}
}

// give applies an event to a process that is not stopped.
func (s *simulation) give(p *process, ev event) {
	if !p.running() {
		return
	}
	if s.options.Trace != nil && ev.kind != wake {
		s.trace(ev.proc, "%v of %d, %d bytes", ev.kind, ev.other, len(ev.frame))
	}
	switch ev.kind {
	case wake:
		p.program.wake()
	case arrival:
		s.options.Diagram.arrived(s.now, ev)
		if isLong(ev.frame) {
			p.program.longs.hear(ev.other, ev.frame)
			break
		}
		s.step(p, control.Receive{From: ev.other, Frame: ev.frame})
	case piece:
		s.options.Diagram.arrived(s.now, ev)
		p.program.longs.chunk(ev.other, ev.chunk)
	case message:
		s.options.Diagram.arrived(s.now, ev)
		p.program.arrived(ev.other, ev.data)
	case notice:
		s.step(p, control.Exited{Proc: ev.other})
	case goodbye:
		if p.rules.Dead().Has(ev.other) {
			break // closed, from the view of p
		}
		s.step(p, control.Left{Proc: ev.other})
		if s.swarm.detector == Wild { // p may have been left behind
			p.program.gone(ev.other)
		}
	case timer:
		p.alarm = 0
		s.step(p, control.Tick{Now: s.now})
	case pulse:
		s.stop(p, *ev.again)
	case look:
		s.look(p, ev.comm)
	}
}

// settled reports whether a run with heartbeats is over, because such a run never falls silent. The
// run is over when no process runs any more, or when the programs have been done for so long that
// every death must be known. run calls settled before each event, and most calls return at once.
func (s *simulation) settled() bool {
	if !s.swarm.detector.beats() || s.report.Steps%16 != 0 {
		return false
	}
	running, done := false, true
	for _, p := range s.procs {
		if p.running() {
			running = true
			done = done && !p.stopped && !s.swarm.closes && p.program.done()
		}
	}
	switch {
	case !running:
		return true
	case !done:
		s.quietAt = 0
	case s.quietAt == 0:
		s.quietAt = s.now
	case s.now.Sub(max(s.quietAt, s.peace())) > detectionMax(s.swarm.n, s.report.Deaths+s.report.Fenced+1):
		return true
	}
	if s.now.Sub(s.peace()) > settleMax {
		s.fail("I2", "%v into the liveness phase the programs are not done\n%s", settleMax, s.undone())
	}
	return false
}

// calm reports whether the time for new faults is over.
func (s *simulation) calm() bool { return s.now.Sub(world.Epoch) > s.swarm.safety }

// peace returns the end of the last fault, or a bound on this end.
func (s *simulation) peace() mono.Time {
	if s.swarm.detector == Wild { // a frame may still have the greatest delay
		return max(s.lastFault, world.Epoch.Add(s.swarm.safety+lateMax))
	}
	return s.lastFault
}

// undone describes the processes that are not done.
func (s *simulation) undone() string {
	text := ""
	for _, p := range s.procs {
		if p.running() && (s.swarm.closes || !p.program.done()) {
			text += p.rules.Describe() + p.program.describe()
		}
	}
	return text
}

// fail notes the first broken invariant. If survivors differ since accusations crossed, no further
// invariant applies: the run is counted as split, and ends.
func (s *simulation) fail(invariant, format string, args ...any) {
	if s.report.Crossed && len(s.check.splits) > 0 {
		s.report.Split = true
		return
	}
	if s.violation == nil {
		s.violation = &Violation{Seed: s.options.Seed, Invariant: invariant, Text: fmt.Sprintf(format, args...), Swarm: s.swarm.String(), Options: s.options}
		s.trace(-1, "%s broken: %s", invariant, s.violation.Text)
	}
}

func (s *simulation) trace(proc int, format string, args ...any) {
	if s.options.Trace != nil {
		s.options.Trace(fmt.Sprintf("%9v  %3d  ", s.now.Sub(world.Epoch), proc) + fmt.Sprintf(format, args...))
	}
}
