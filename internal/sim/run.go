package sim

import (
	"fmt"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/mono"
)

// Report is what happened in a run.
type Report struct {
	Seed          uint64
	Agreements    int // agreements that were decided by somebody
	Decisions     int // answers that programs got
	Deaths        int
	Revokes       int // calls of revoke
	Communicators int // communicators that programs got, counted at each member
	Frames        int
	Steps         int           // events given to the rules
	Time          mono.Duration // virtual
	Hash          uint64        // of the trace: equal iff the runs are
	Swarm         string        // what the run was like
}

// Violation is a broken invariant.
type Violation struct {
	Seed      uint64
	Invariant string
	Text      string
	Swarm     string
	Options   Options // of the run
}

// Error says what broke, and how to see it again.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s broken: %s\nrun: seed %d, %s\nreplay: goulfm sim -replay %d%s", v.Invariant, v.Text, v.Seed, v.Swarm, v.Seed, v.Options.flags())
}

// stepsMax bounds a run; no correct one comes near.
const stepsMax = 5_000_000

// simulation is one run.
type simulation struct {
	options   Options
	tape      *tape
	swarm     swarm
	queue     queue
	net       *network
	procs     []*process
	spared    int // this process is never trapped
	now       mono.Time
	check     *checker
	hash      hash
	report    Report
	violation *Violation
}

// Run carries out one run. The error is a *Violation.
func Run(o Options) (Report, error) {
	s := newSimulation(o)
	for s.violation == nil {
		ev, ok := s.queue.pop()
		if !ok {
			s.check.final()
			break
		}
		s.happen(ev)
	}
	s.report.Time, s.report.Hash = s.now.Sub(0), uint64(s.hash)
	if s.violation != nil {
		return s.report, s.violation
	}
	return s.report, nil
}

func newSimulation(o Options) *simulation {
	s := &simulation{options: o, tape: newTape(o.Seed), hash: newHash()}
	s.swarm = drawSwarm(s.tape, o)
	s.report.Seed, s.report.Swarm = o.Seed, s.swarm.String()
	s.net = newNetwork(s.tape, s.swarm)
	s.check = newChecker(s)
	for i := range s.swarm.n {
		s.procs = append(s.procs, &process{id: i, rules: control.New(control.Config{
			N: s.swarm.n, Me: i,
			Detector: fd.Config{Mode: fd.Exact},
			Watchdog: o.Watchdog,
			Flaws:    o.Flaws,
		})})
	}
	s.setTraps()
	for _, p := range s.procs {
		p.program = newProgram(s, p)
	}
	return s
}

// happen gives one event to its process.
func (s *simulation) happen(ev event) {
	s.now = ev.at
	p := s.procs[ev.proc]
	if !p.running() || ev.kind == arrival && s.net.lost(ev.other, ev.proc, ev.at) {
		return
	}
	s.hash.addEvent(&ev)
	if s.options.Trace != nil && ev.kind != wake {
		s.trace(ev.proc, "%v of %d, %d bytes", ev.kind, ev.other, len(ev.frame))
	}
	switch ev.kind {
	case wake:
		p.program.wake()
	case arrival:
		s.step(p, control.Receive{From: ev.other, Frame: ev.frame})
	case notice:
		s.step(p, control.Exited{Proc: ev.other})
	case goodbye:
		s.step(p, control.Left{Proc: ev.other})
	case timer:
		p.alarm = 0
		s.step(p, control.Tick{Now: s.now})
	}
	if s.report.Steps > stepsMax {
		s.fail("I2", "no end after %d steps", stepsMax)
	}
}

// fail notes the first broken invariant.
func (s *simulation) fail(invariant, format string, args ...any) {
	if s.violation == nil {
		s.violation = &Violation{Seed: s.options.Seed, Invariant: invariant, Text: fmt.Sprintf(format, args...), Swarm: s.swarm.String(), Options: s.options}
		s.trace(-1, "%s broken: %s", invariant, s.violation.Text)
	}
}

func (s *simulation) trace(proc int, format string, args ...any) {
	if s.options.Trace != nil {
		s.options.Trace(fmt.Sprintf("%9v  %3d  ", s.now.Sub(0), proc) + fmt.Sprintf(format, args...))
	}
}
