package repairs

import (
	"fmt"
	"runtime/debug"

	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Options are the parameters of a run. A parameter that is not set is drawn from Seed.
type Options struct {
	Seed  uint64
	N     int // ranks, 1 to RanksMax; 0 = drawn
	Trace func(line string)

	// Done, if not nil, is called with the report of each run of RunMany, one at a time.
	Done func(Report)
}

// RanksMax is the largest world of such a run.
const RanksMax = 16

// Report is the result of a run.
type Report struct {
	Seed      uint64
	Repairs   int // attempts after the first one that have begun at any process
	Deaths    int
	Started   int // processes that replaced others, or were started for this
	Reused    int // of these, in slots of former processes
	Refused   int // requests for processes that the launcher refused
	Commits   int // versions that were committed
	Restored  int // versions that a Protect has restored
	Rebuilt   int // parts rebuilt from parity
	Inherited int // parts read from the memory of a node
	NodesLost int // nodes with memory in them
	Restoring int // deaths while a repair restores
	Saves     int // saves of data outside of versions, with their answers
	Files     FileCounts
	Silent    SilentCounts
	Shrunk    int // attempts with fewer ranks than the one before
	Orphans   int // replacements that only dead members had agreed on
	Again     int // shrinks that were repeated, because a dead member had made another call
	Steps     int // events passed to the control rules
	Events    int
	Ending    string        // how the world ended; "": all have died
	Time      mono.Duration // virtual
	Hash      uint64        // of the events: equal iff the runs are
	Plan      string        // parameters of the run
}

// FileCounts counts the events of files.
type FileCounts struct {
	Written   int // versions that were published
	Abandoned int // times that a process abandoned a version, because some process could not write its file
	Deleted   int // versions
	Lives     int // jobs that were started anew
	Restored  int // times that a process restored from files
	Dealt     int // of these, of a world of another size
	Spoiled   int // times that a process could not read its part of a version
}

func (c *FileCounts) add(d FileCounts) {
	c.Written += d.Written
	c.Abandoned += d.Abandoned
	c.Deleted += d.Deleted
	c.Lives += d.Lives
	c.Restored += d.Restored
	c.Dealt += d.Dealt
	c.Spoiled += d.Spoiled
}

// SilentCounts counts silent changes in a process, and their detections.
type SilentCounts struct {
	Flipped  int
	Replicas int // attempts in which a process learned that values differ
	Replays  int // times that a process found that a replay differs
	Unseen   int // boundaries that did not report that values differ
}

func (c *SilentCounts) add(d SilentCounts) {
	c.Flipped += d.Flipped
	c.Replicas += d.Replicas
	c.Replays += d.Replays
	c.Unseen += d.Unseen
}

// Violation is a broken invariant.
type Violation struct {
	Seed      uint64
	Invariant string
	Text      string
	Plan      string
	Options   Options
}

// Error returns the broken invariant, and the command that replays the run.
func (v *Violation) Error() string {
	text := ""
	if v.Options.N > 0 {
		text += fmt.Sprintf(" -n %d", v.Options.N)
	}
	return fmt.Sprintf("%s broken: %s\nrun: seed %d, %s\nreplay: goulfm sim -repairs 1 -replay %d%s", v.Invariant, v.Text, v.Seed, v.Plan, v.Seed, text)
}

// repairEventsMax bounds a run. No correct run comes near.
const repairEventsMax = 2_000_000

// repairRun is one run.
type repairRun struct {
	options   Options
	setup     repairSetup
	tape      world.Tape // drawn from in the order of events
	agenda    eventqueue.Agenda[mono.Time]
	now       mono.Time
	launcher  launcher
	workers   []*worker     // all workers of the run, by number
	slots     []*worker     // the present or last worker of each slot
	fuse      int           // steps until the next death
	deaths    int           // deaths still to come
	memories  []*nodeMemory // by node; nil: no process was there since the memory was lost
	folder    folder
	n, first  int // ranks of the present job; number of the first of them
	lives     int // jobs that may follow
	check     repairChecker
	hash      world.Hash
	report    Report
	violation *Violation
}

// Run carries out one run. The error is a *Violation.
func Run(o Options) (Report, error) {
	r := newRepairRun(o)
	r.runToPanic()
	r.report.Time, r.report.Hash = r.now.Sub(world.Epoch), uint64(r.hash)
	if r.violation != nil {
		return r.report, r.violation
	}
	return r.report, nil
}

func newRepairRun(o Options) *repairRun {
	r := &repairRun{options: o, tape: world.NewTape(o.Seed), now: world.Epoch, hash: world.NewHash()}
	r.setup = drawRepairs(&r.tape, o)
	r.report.Seed, r.report.Plan = o.Seed, r.setup.String()
	r.deaths, r.n, r.lives = r.setup.deaths, r.setup.n, r.setup.files.lives
	r.memories = make([]*nodeMemory, r.setup.nodes)
	r.check = newRepairChecker(r)
	r.launcher.init(r)
	r.light()
	return r
}

// runToPanic runs the loop. A panic of the rules is a violation like any other, with a seed.
func (r *repairRun) runToPanic() {
	defer func() {
		if p := recover(); p != nil {
			r.fail("assert", "%v\n%s", p, debug.Stack())
		}
	}()
	r.launcher.begin()
	for r.violation == nil {
		if _, any := r.agenda.Next(); !any {
			if r.check.final(); !r.isToStartAnew() {
				return
			}
			r.anew()
			continue
		}
		at, do := r.agenda.Take()
		r.now = at
		r.hash.Add(uint64(at))
		r.report.Events++
		if r.report.Events > repairEventsMax {
			r.fail("V4", "no end after %d events\n%s", repairEventsMax, r.describe())
		}
		do()
	}
}

// plan schedules an event after a delay.
func (r *repairRun) plan(after mono.Duration, do func()) { r.agenda.Plan(r.now.Add(after), do) }

// fail notes the first broken invariant.
func (r *repairRun) fail(invariant, format string, args ...any) {
	if r.violation != nil {
		return
	}
	o := r.options
	o.Trace, o.Done = nil, nil
	r.violation = &Violation{Seed: o.Seed, Invariant: invariant, Text: fmt.Sprintf(format, args...), Plan: r.setup.String(), Options: o}
	r.trace(nil, "%s broken: %s", invariant, r.violation.Text)
}

func (r *repairRun) trace(w *worker, format string, args ...any) {
	if r.options.Trace == nil {
		return
	}
	who := "        "
	if w != nil {
		who = fmt.Sprintf("%3d@%-3d ", w.number, w.slot)
	}
	r.options.Trace(fmt.Sprintf("%9v  ", r.now.Sub(world.Epoch)) + who + fmt.Sprintf(format, args...))
}

// describe returns the states of the workers that have not ended.
func (r *repairRun) describe() string {
	text := ""
	for _, w := range r.workers {
		if !w.gone && w.drive.outcome == nil {
			text += w.describe()
		}
	}
	return text
}

func (r *repairRun) traceEvent(w *worker, ev any) {
	if r.options.Trace != nil {
		r.trace(w, "%T %+v", ev, ev)
	}
}
