package launch

import (
	"context"
	"errors"
	"os/signal"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A launcher runs one job. It passes events to the rules of the job, performs the actions that
// follow through the daemon of the node, and reports them to people.
type launcher struct {
	jobhost.Base // its Mu guards dumps, unwritten and struck, too
	crew         crew
	remote       *daemonclient.Client // the crew of a job on several nodes; else nil

	spec  *Spec
	start time.Time
	rep   *reporter
	sink  sink
	feeds feeds

	herald *herald // nil: without --watch

	slots    int // slots used so far; of the starter's thread once ranks run
	prog     *program
	programs map[string]*program // of spawns: built or found already; of the starter's thread

	dumps     dumps
	unwritten string // the first error in writing output
	plan      *plan
	struck    []int // nodes that were killed at a point, as in Kill.Node

	allJoined chan struct{}
	quiet     chan struct{} // from now on the only possible event is that output is read
	settled   chan struct{} // no event is possible any more
}

func newLauncher(spec *Spec) *launcher {
	l := &launcher{spec: spec, start: time.Now(), programs: map[string]*program{}, plan: newPlan(spec.Faults),
		allJoined: make(chan struct{}), quiet: make(chan struct{}), settled: make(chan struct{})}
	l.Rules = job.New(job.Config{Ranks: spec.N, Procs: spec.universe(), Ring: spec.Ring, Fence: spec.Fence, Survive: spec.Survive, Nodes: spec.nodesOfSlots(),
		Spares: spec.Spares, Limited: spec.Limited, Respawn: spec.Respawn})
	l.More = l.more
	stderr := &outlet{w: spec.Stderr, name: "standard error", failed: l.outputFailed}
	l.rep, l.sink, l.feeds = newReporter(spec, stderr, l.start), spec.sink(stderr, l.outputFailed), feeds{from: spec.In, ranks: spec.N}
	go l.rep.tell()
	return l
}

// Run runs a job to its end and returns its exit code.
func Run(ctx context.Context, spec *Spec) (int, error) {
	if err := spec.check(); err != nil {
		return ExitUsage, err
	}
	first := newReporter(spec, &outlet{w: spec.Stderr}, time.Now())
	go first.tell()
	prog, err := findProgram(spec.Program, func(dir string, args []string) ([]byte, error) { return buildFirst(ctx, dir, args) }, first.building)
	first.writeAll()
	if err != nil {
		return codeOf(err), err
	}
	defer prog.close()
	lives := newLives(spec)
	defer lives.end()
	for {
		l := newLauncher(lives.spec())
		l.prog = prog
		code, err := l.live(ctx, lives)
		if err != nil || !lives.another() {
			return code, err
		}
	}
}

// live runs the ranks once, to their end, and returns the exit code.
func (l *launcher) live(ctx context.Context, lives *lives) (code int, err error) {
	spec, prog := l.spec, l.prog
	if l.herald, err = newHerald(spec, l.rep); err != nil {
		return ExitFailed, err
	}
	defer l.herald.close()
	if err := l.hire(ctx, lives); err != nil {
		return codeOf(err), err
	}
	defer l.close()
	l.herald.nodesJoined()
	// Signals are caught before there are ranks: a rank that runs at once may be seen, and the job
	// interrupted, while others are started. The launcher passes a signal on when all are started.
	signals := catchSignals()
	defer signal.Stop(signals)
	if err := l.startRanks(); err != nil {
		l.stop(ExitFailed, "it could not start")
		return codeOf(err), err
	}
	l.rep.started(spec.N, prog.name)
	if spec.Ring && len(spec.Kills) > 0 {
		l.rep.note("short", "a rank that dies is not replaced: %s", needsExact)
	}
	if l.remote == nil {
		daemon.Calm(spec.universe())
	}
	go l.handleSignals(signals)
	l.crew.Watch(0, spec.N)
	if spec.SuspectAfter > 0 {
		go l.crew.WatchLife(spec.SuspectAfter)
	}
	l.schedule()
	<-l.crew.Ended()
	l.settle()
	lives.notePlan(l.tellMissed())
	v := lives.judge(ctx, l.verdict())
	l.herald.over(v)
	l.rep.end(v, l.crew.Halted())
	close(l.settled)
	return v.Code, nil
}

// settle ends the processes that the ranks have left behind, and waits until the last of their
// output is written.
func (l *launcher) settle() {
	l.crew.EndLeftovers()
	close(l.quiet)
	l.crew.Drain()
}

// close releases the resources for new processes.
func (l *launcher) close() {
	l.crew.Close()
	for _, p := range l.programs {
		p.close()
	}
}

func codeOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ExitFailed
}

// outputFailed notes that output of ranks is lost.
func (l *launcher) outputFailed(err error) {
	l.Mu.Lock()
	if l.unwritten == "" {
		l.unwritten = err.Error()
	}
	l.Mu.Unlock()
	l.rep.note("output", "output of ranks is lost: %v", err)
}

// tellMissed names the planned faults that have not happened, and returns how many.
func (l *launcher) tellMissed() int {
	left := l.plan.left()
	for _, f := range left {
		l.rep.note("missed", "%s did not happen: %s", f.text, f.why)
	}
	return len(left)
}

// verdict returns how the job ended.
func (l *launcher) verdict() job.Verdict {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	v := l.Rules.Verdict()
	if v.Code == 0 && l.unwritten != "" {
		return job.Verdict{Code: ExitOutput, Text: v.Text + ", output was lost: " + l.unwritten}
	}
	return v
}

// stop ends the job at once with an exit code, for the reason why.
func (l *launcher) stop(code int, why string) { l.Apply(job.Stopped{Code: code, Why: why}) }
