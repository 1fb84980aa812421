package repairs

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/ckpt/redundancy"
	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// repairSetup holds the parameters of a run of repairs.
type repairSetup struct {
	n, steps   int // ranks; steps of the program
	universe   int // slots
	nodes      int
	copies     int
	data       int // erasure: parts of data; 0: whole copies
	every      int // Config.Every
	shortage   repair.Shortage
	want       int  // interval that members request; 0: each another one
	programs   int  // percent: the program agrees on its communicator in a step
	saves      int  // percent: the program saves in a step
	slow       int  // percent: a version is complete only after a while
	fatal      int  // the process with an error in the middle; -1: none
	rollback   int  // the process that once requests a rollback; -1: none
	stop       int  // the rank that requests a stop, by its place among the first ranks of its job; -1: none
	deaths     int  // at most
	within     int  // percent: a death beyond the limits of the levels does not happen
	near       int  // percent: a death follows soon after another one
	nodeDies   int  // percent: with a process its node dies
	midStep    int  // percent: a death comes within the sends of one step
	loses      int  // percent: a death destroys part of the frames on the way
	starts     int  // percent: a process cannot be started
	refills    bool // processes are offered when the world is too small
	news       mono.Duration
	tails      bool
	stalls     int // per thousand steps
	stepsApart int // typical, between deaths
	keeps      int // use of node memory
	files      fileSetup
	silent     silentSetup
}

func drawRepairs(t *world.Tape, o Options) repairSetup {
	s := repairSetup{n: o.N, fatal: -1, rollback: -1, stop: -1}
	if s.n == 0 {
		s.n = []int{2, 3, 4, t.Between(1, 4), t.Between(3, 6)}[t.Below(5)]
	}
	s.nodes = []int{s.n, s.n, t.Between(1, s.n), s.n + 1}[t.Below(4)]
	s.copies = []int{1, 1, 1, 2, 2, 0}[t.Below(6)]
	if s.copies > 0 && t.Percent(25) {
		s.data = t.Between(1, 3)
	}
	s.every = []int{0, 0, 1, 2}[t.Below(4)]
	s.want = []int{1, 1, 2, 0}[t.Below(4)]
	s.programs = []int{0, 30, 60}[t.Below(3)]
	s.saves = []int{0, 30, 60}[t.Below(3)]
	s.slow = []int{0, 0, 0, 30}[t.Below(4)]
	if s.within = []int{100, 97, 97, 0}[t.Below(4)]; s.copies == 0 {
		s.within = 0
	}
	s.near = []int{0, 40, 80}[t.Below(3)]
	s.nodeDies = []int{0, 0, 0, 20}[t.Below(4)]
	s.midStep = []int{0, 50, 90}[t.Below(3)]
	s.loses = []int{0, 50, 90}[t.Below(3)]
	s.starts = []int{0, 0, 0, 10}[t.Below(4)]
	s.news = []mono.Duration{world.MessageDelay / 5, world.MessageDelay, 4 * world.MessageDelay, 30 * world.MessageDelay}[t.Below(4)]
	s.tails = t.Percent(50)
	s.stalls = []int{0, 0, 2}[t.Below(3)]
	s.stepsApart = s.n * []int{15, 25, 40}[t.Below(3)]
	s.deaths = []int{t.Between(1, 4), t.Between(2, 12), t.Between(8, 40)}[t.Below(3)]
	s.steps = t.Between(3, 4+s.deaths)
	s.universe = 2*s.n + 8
	s.drawOdd(t)
	s.drawMemory(t)
	s.files = drawFiles(t)
	if s.silent = drawSilent(t, s.n, s.steps); s.silent.verify {
		s.slow = 0        // package recovery has no versions that are complete later
		s.refills = false // with each failed offer a version would be made again, for ever
	}
	return s
}

// drawMemory draws the use of node memory. If there is any, nodes are few and die: otherwise the
// memory would be lost with each process, or never.
func (s *repairSetup) drawMemory(t *world.Tape) {
	if s.keeps = []int{keepsNothing, keepsNothing, keepsWithCopies, keepsAlone}[t.Below(4)]; s.keeps == keepsNothing {
		return
	}
	s.nodes = []int{1, 2, 2, t.Between(1, s.n)}[t.Below(4)]
	s.nodeDies = []int{0, 20, 50}[t.Below(3)]
}

// drawOdd draws the special features of a run. Some of them end the run in another way.
func (s *repairSetup) drawOdd(t *world.Tape) {
	switch t.Below(12) {
	case 0:
		s.fatal = t.Below(s.n)
	case 1:
		s.rollback = t.Below(s.n)
	case 2:
		s.stop = t.Below(s.n)
	case 3:
		s.universe = s.n + t.Between(0, 2)
		s.shortage = repair.Shortage(t.Below(3))
		s.refills = t.Percent(50)
	case 4:
		s.universe = s.n + t.Between(0, 3)
		s.shortage = repair.ShortageShrink
	}
}

func (s repairSetup) String() string {
	return fmt.Sprintf("n=%d steps=%d universe=%d nodes=%d copies=%d data=%d every=%d want=%d short=%d programs=%d saves=%d slow=%d fatal=%d rollback=%d stop=%d deaths=%d within=%d near=%d nodedies=%d midstep=%d loses=%d starts=%d refills=%v news=%v tails=%v stalls=%d apart=%d keeps=%d files=%+v silent=%+v",
		s.n, s.steps, s.universe, s.nodes, s.copies, s.data, s.every, s.want, s.shortage, s.programs, s.saves, s.slow, s.fatal, s.rollback, s.stop, s.deaths, s.within, s.near, s.nodeDies, s.midStep, s.loses, s.starts, s.refills, s.news, s.tails, s.stalls, s.stepsApart, s.keeps, s.files, s.silent)
}

// repairTries is so large that no run loses a rank that often at one point.
const repairTries = 1000

func (w *driver) config() repair.Config {
	s := &w.run.setup
	every := s.every
	if s.silent.verify && every == 0 {
		every = 1
	}
	return repair.Config{Layout: w.layout, Shortage: s.shortage, Wait: 2 * slotsMax, Tries: repairTries, Every: every, Files: s.files.used, Must: s.files.must, Verify: s.silent.verify}
}

func (s *repairSetup) layout(nodes []int) redundancy.Layout {
	if s.data > 0 {
		return redundancy.Erasure(nodes, s.data, s.copies)
	}
	return redundancy.Partners(nodes, s.copies)
}

// light draws the number of steps until the next death.
func (r *repairRun) light() {
	r.fuse = 1 + r.tape.Below(2*r.setup.stepsApart)
	if r.report.Deaths > 0 && r.tape.Percent(r.setup.near) {
		r.fuse = 1 + r.tape.Below(10*r.setup.n)
	}
}

// neighbours returns the processes that die with a process if its node does, and this node, or -1.
func (r *repairRun) neighbours(victim *worker) (also []*worker, node int) {
	if !r.tape.Percent(r.setup.nodeDies) {
		return nil, -1
	}
	for _, o := range r.slots {
		if o.node == victim.node && o != victim && o.forked && !o.gone {
			also = append(also, o)
		}
	}
	return also, victim.node
}

// strikes counts a step of w, and reports whether w dies in this step. Another victim dies at once,
// and so do the processes on a victim's node if the node dies.
func (r *repairRun) strikes(w *worker) bool {
	if r.deaths == 0 || w.gone {
		return false
	}
	if r.fuse--; r.fuse > 0 {
		return false
	}
	if r.lives > 0 && r.tape.Percent(r.setup.files.allDie) {
		r.allDie(w)
		return true
	}
	victim := w
	if w.drive.outcome != nil || r.tape.Percent(30) {
		var others []*worker
		for _, o := range r.slots {
			if o.forked && !o.gone && o.drive.outcome == nil {
				others = append(others, o)
			}
		}
		if len(others) == 0 {
			return false
		}
		victim = others[r.tape.Below(len(others))]
	}
	r.light()
	also, node := r.neighbours(victim)
	if !r.check.bears(append(also, victim), node) && r.tape.Percent(r.setup.within) {
		return false
	}
	r.deaths--
	if node >= 0 && r.memories[node] != nil {
		r.memories[node] = nil
		r.report.NodesLost++
	}
	r.report.Deaths += 1 + len(also)
	for _, o := range also {
		if o != w {
			o.die()
		}
	}
	if slices.Contains(also, w) {
		victim.die()
		return true
	}
	if victim != w {
		victim.die()
		return false
	}
	return true
}

// allDie ends all processes except w, which the caller ends.
func (r *repairRun) allDie(w *worker) {
	r.trace(nil, "all die")
	r.light()
	r.deaths--
	r.report.Deaths++
	for _, o := range r.slots {
		if o != w && o.forked && !o.gone {
			r.report.Deaths++
			o.die()
		}
	}
}
