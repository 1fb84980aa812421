package nodes

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Options are the parameters of a run. A parameter that is not set is drawn from Seed.
type Options struct {
	Seed   uint64
	Nodes  int   // 2 to Max; 0 = drawn
	Faults []int // numbers of the planned faults that happen; nil: all
	Trace  func(line string)

	// Done, if not nil, is called with the report of each run of RunMany, one at a time.
	Done func(Report)

	shape  func(*nodeSetup) // nil, except in tests: changes the drawn setup
	tamper func(*nodeRun)   // nil, except in tests of the checks
}

// Max is the largest number of nodes of a run.
const Max = 8

// flags returns the flags that the replay command needs besides the seed.
func (o Options) flags() string {
	text := ""
	if o.Nodes > 0 {
		text += fmt.Sprintf(" -n %d", o.Nodes)
	}
	if o.Faults != nil {
		var numbers []string
		for _, f := range o.Faults {
			numbers = append(numbers, strconv.Itoa(f))
		}
		text += " -faults " + strings.Join(append([]string{"none"}[min(len(numbers), 1):], numbers...), ",")
	}
	return text
}

// Report is the result of a run.
type Report struct {
	Seed         uint64
	Agreements   int // with a decision at any process
	Decisions    int // answers to programs
	Shrinks      int // of the agreements
	Revokes      int
	Faults       int // that happened
	Deaths       int // of ranks whose node lived
	Lost         int // nodes, or the launcher, that were declared
	Wronged      int // of these, machines whose daemon had not died
	Freezes      int // by daemons
	Halts        int // ranks that found the lease over by themselves
	Thaws        int
	Coordinators int  // epochs in which another coordinator acted
	Zombies      int  // steps of ranks of declared nodes, before their daemon had its turn
	Frames       int  // between ranks
	Opened       int  // connections, counted at both ends
	Broken       int  // connections that were cut in the middle
	Refused      int  // ranks that learned that they are dead
	Ended        int  // nodes that ended by themselves, without a coordinator
	Stopped      bool // the job could not continue: its launcher gone, or no majority left
	Steps        int  // events passed to the control rules
	Events       int
	Time         mono.Duration // virtual
	Hash         uint64        // of the events: equal iff the runs are
	Plan         string        // parameters of the run
}

// Violation is a broken invariant.
type Violation struct {
	Seed      uint64
	Invariant string
	Text      string
	Plan      string
	Faults    []string // the planned ones, in words
	Options   Options
}

// Error returns the broken invariant, and the command that replays the run.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s broken: %s\nrun: seed %d, %s\nfaults:\n  %s\nreplay: goulfm sim -nodes 1 -replay %d%s",
		v.Invariant, v.Text, v.Seed, v.Plan, strings.Join(v.Faults, "\n  "), v.Seed, v.Options.flags())
}

// nodeEventsMax bounds a run. No correct run comes near.
const nodeEventsMax = 3_000_000

// nodeRun is one run.
type nodeRun struct {
	options   Options
	setup     nodeSetup
	faults    []nodeFault
	tape      world.Tape
	drawn     map[drawing]int // number of draws by purpose and item; looked up, never ranged over
	agenda    eventqueue.Agenda[mono.Time]
	now       mono.Time
	stations  []*station // the launcher, and the machines of the nodes, as members of the roster
	ranks     []*nodeRank
	net       nodeNet
	cables    []*cable // those that are open at any end
	finished  bool
	quiet     mono.Time // all live processes are done since then; 0 = not done
	check     nodeChecker
	hash      world.Hash
	report    Report
	violation *Violation
}

// Run carries out one run. The error is a *Violation.
func Run(o Options) (Report, error) {
	r := newNodeRun(o)
	r.runToPanic()
	r.report.Time, r.report.Hash = r.now.Sub(world.Epoch), uint64(r.hash)
	if r.violation != nil {
		return r.report, r.violation
	}
	return r.report, nil
}

func newNodeRun(o Options) *nodeRun {
	r := &nodeRun{options: o, tape: world.NewTape(o.Seed), now: world.Epoch, hash: world.NewHash(), drawn: map[drawing]int{}}
	t := r.tape.Fork(world.ForSwarm, 0, 0)
	r.setup = drawNodes(&t, o)
	if o.shape != nil {
		o.shape(&r.setup)
	}
	r.report.Seed, r.report.Plan = o.Seed, r.setup.String()
	r.check = newNodeChecker(r)
	r.net = newNodeNet(len(r.setup.sizes) + 1)
	for m := range len(r.setup.sizes) + 1 {
		r.stations = append(r.stations, newStation(r, m))
	}
	for node, size := range r.setup.sizes {
		for range size {
			r.ranks = append(r.ranks, &nodeRank{run: r, proc: len(r.ranks), station: r.stations[node+1]})
		}
	}
	for _, p := range r.ranks {
		p.station.ranks = append(p.station.ranks, p)
	}
	for _, p := range r.ranks {
		p.begin()
	}
	for _, s := range r.stations {
		s.schedule()
	}
	r.planNodeFaults()
	r.plan(r.setup.period, r.lookWhetherDone)
	if o.tamper != nil {
		o.tamper(r)
	}
	return r
}

// runToPanic runs the loop. A panic of the rules is a violation like any other, with a seed.
func (r *nodeRun) runToPanic() {
	defer func() {
		if p := recover(); p != nil {
			r.fail("assert", "%v\n%s", p, debug.Stack())
		}
	}()
	r.loop()
	if r.violation == nil {
		r.check.final()
	}
}

func (r *nodeRun) loop() {
	for r.violation == nil && !r.finished {
		at, do := r.agenda.Take() // lookWhetherDone is always planned
		r.now = at
		r.hash.Add(uint64(at))
		r.report.Events++
		if r.report.Events > nodeEventsMax {
			r.fail("I2", "no end after %d events\n%s", nodeEventsMax, r.describe())
		}
		do()
	}
}

// plan schedules an event after a delay.
func (r *nodeRun) plan(after mono.Duration, do func()) { r.agenda.Plan(r.now.Add(after), do) }

// calm reports whether the faults are over.
func (r *nodeRun) calm() bool { return r.now.Sub(world.Epoch) >= r.setup.safety }

// fail notes the first broken invariant.
func (r *nodeRun) fail(invariant, format string, args ...any) {
	if r.violation != nil {
		return
	}
	o := r.options
	o.Trace, o.Done = nil, nil
	v := &Violation{Seed: o.Seed, Invariant: invariant, Text: fmt.Sprintf("at %v: ", r.now.Sub(world.Epoch)) + fmt.Sprintf(format, args...), Plan: r.setup.String(), Options: o}
	for _, f := range r.faults {
		if r.happens(f.number) {
			v.Faults = append(v.Faults, f.String())
		}
	}
	r.violation = v
	r.trace("", "%s broken: %s", invariant, v.Text)
}

func (r *nodeRun) trace(who, format string, args ...any) {
	if r.options.Trace != nil {
		r.options.Trace(fmt.Sprintf("%12v  %-8s ", r.now.Sub(world.Epoch), who) + fmt.Sprintf(format, args...))
	}
}

// describe returns the states of all machines.
func (r *nodeRun) describe() string {
	text := ""
	for _, s := range r.stations {
		text += s.describe()
	}
	return text
}
