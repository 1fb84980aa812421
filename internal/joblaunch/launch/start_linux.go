package launch

import (
	"errors"
	"os"
	"time"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// startRanks starts the ranks with which the job begins.
func (l *launcher) startRanks() error {
	l.slots = l.spec.N
	l.crew.Announce(l.slots)
	return l.crew.Begin(func() error {
		for rank := range l.spec.N {
			if err := l.startRank(rank); err != nil {
				return fail(ExitFailed, "start rank %d: %w", rank, err)
			}
			l.Apply(job.Forked{Proc: rank})
		}
		return nil
	})
}

func (l *launcher) startRank(rank int) error {
	p, err := l.place(rank, l.prog, boot.Info{Rank: rank, Size: l.spec.N, Keeps: true})
	if err != nil {
		return err
	}
	stdin, feed, err := l.stdinOf(rank)
	if err != nil {
		p.Out.Close()
		p.Errs.Close()
		return err
	}
	p.Stdin, p.Argv, p.Env = stdin, append(p.Argv, l.spec.Args...), l.spec.Env
	if err := l.crew.Start(p); err != nil {
		return err
	}
	if feed != nil {
		go feed()
	}
	return nil
}

// place says what a process is told, and where its output goes.
func (l *launcher) place(number int, prog *program, who boot.Info) (daemon.Placement, error) {
	slot := job.SlotOf(number)
	out, errs, err := l.sink.of(slot)
	if err != nil {
		return daemon.Placement{}, err
	}
	s, prefix := l.spec, l.spec.prefixOf(slot, l.start)
	who.Ranks, who.Ring, who.Era, who.Fence, who.Watched = s.N, s.Ring, s.Era, s.Fence, s.SuspectAfter > 0
	who.Period, who.Timeout = s.Period, s.Period*time.Duration(s.Factor)
	for _, k := range s.Kills {
		if k.Point != "" && l.concerns(k, number) {
			who.Marks = append(who.Marks, boot.Mark{Name: k.Point, N: k.Value, Node: k.Node > 0})
		}
	}
	return daemon.Placement{Number: number, Path: prog.path, Argv: []string{prog.name}, Dir: s.Dir, Info: who,
		Out: &lines{outlet: out, prefix: prefix}, Errs: &lines{outlet: errs, prefix: prefix}}, nil
}

// spawn starts what a process asks for. The answer comes when all are in Init, or one cannot
// be.
func (l *launcher) spawn(root int, m rankproto.Spawn) {
	l.crew.OnStarter(func() {
		prog, err := l.programOf(m.Program)
		if err == nil && !l.crew.Expect(m.N) {
			err = daemon.ErrOver
		}
		start, ok := l.awaitSlots(root, m, err)
		switch {
		case ok:
			l.startBatch(root, start, prog, m)
		case err == nil:
			l.crew.Unexpect(m.N)
		}
	})
}

// How long a request for processes waits for slots of the dead to which others still refer, and to
// which only the process refers that asks and waits: it may not have heard yet who is dead. How
// long it waits for processes that may be about to end. And how often it looks.
const (
	slotsMax  = 10 * time.Second
	slotsOwn  = 200 * time.Millisecond
	slotsSoon = 200 // polls: on a busy machine both the launcher and the ending processes are slow
	slotsLook = time.Millisecond
)

// awaitSlots asks for processes until there are slots for them; false: they are refused, and
// the root is told so.
func (l *launcher) awaitSlots(root int, m rankproto.Spawn, bad error) (start job.Start, ok bool) {
	ev := job.Wanted{Root: root, Token: m.Token, N: m.N, Parents: m.Procs, Replace: m.Replace}
	if bad != nil {
		ev.Bad = bad.Error()
	}
	for begun, polls := time.Now(), 0; ; polls++ {
		gone := l.crew.Holdings()
		ev.Vacant, ev.Barred = job.Vacant(gone), l.crew.Barred()
		if pausepoint.Enabled {
			pausepoint.At("launcher.slots")
		}
		if ev.Last = time.Since(begun) > slotsMax; ev.Last {
			ev.Held = job.DescribeHeld(gone)
		}
		ev.Early = polls < slotsSoon
		if time.Since(begun) > slotsOwn {
			ev.Kept = job.HeldBy(gone, job.SlotOf(root))
		}
		start, ok, later := l.want(ev)
		if !later {
			return start, ok
		}
		time.Sleep(slotsLook)
	}
}

// want asks for processes once; later: there may be slots for them later.
func (l *launcher) want(ev job.Wanted) (start job.Start, ok, later bool) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	actions := l.Rules.Step(ev)
	l.Perform(actions)
	for _, a := range actions {
		switch a := a.(type) {
		case job.Postpone:
			return start, false, true
		case job.Start:
			l.slots = max(l.slots, a.First+a.Count)
			return a, true, false
		}
	}
	return start, false, false
}

func (l *launcher) startBatch(root int, b job.Start, prog *program, m rankproto.Spawn) {
	numbers := l.numbers(b)
	if err := l.vacate(b.Used); err != nil {
		l.Apply(notStarted(numbers[0], err))
		l.crew.Unexpect(b.Count)
		return
	}
	if pausepoint.Enabled {
		pausepoint.At("launcher.vacated")
	}
	l.crew.Announce(l.slots)
	for i, number := range numbers {
		who := boot.Info{Rank: i, Size: b.Count, First: b.First, Spawned: true, Keeps: m.Replace}
		if err := l.startSpawned(number, who, prog, m); err != nil {
			l.Apply(notStarted(number, err))
			l.crew.Unexpect(b.Count - i)
			return
		}
		if pausepoint.Enabled {
			pausepoint.At("launcher.started")
		}
		l.Apply(job.Forked{Proc: number})
		l.crew.Unexpect(1)
	}
	l.crew.Watch(b.First, b.Count)
	l.rep.spawned(numbers, prog.name, job.SlotOf(root))
}

// notStarted says that a process could not be started, and whether the loss of its node is why.
func notStarted(number int, why error) job.NotStarted {
	return job.NotStarted{Proc: number, NodeLost: errors.Is(why, daemonclient.ErrNodeLost), Why: why.Error()}
}

// vacate makes slots free that others had. It comes before anybody can learn which process has them
// now.
func (l *launcher) vacate(slots []int) error {
	for _, slot := range slots {
		l.Mu.Lock()
		next, _ := l.Rules.Occupant(slot)
		l.Mu.Unlock()
		if err := l.crew.Vacate(job.NumberOf(slot, next.Generation-1)); err != nil {
			return err
		}
	}
	return nil
}

// numbers are those of the processes to be started.
func (l *launcher) numbers(b job.Start) (numbers []int) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for slot := b.First; slot < b.First+b.Count; slot++ {
		p, _ := l.Rules.Occupant(slot)
		numbers = append(numbers, p.Number())
	}
	return numbers
}

func (l *launcher) startSpawned(number int, who boot.Info, prog *program, m rankproto.Spawn) error {
	p, err := l.place(number, prog, who)
	if err != nil {
		return err
	}
	if p.Stdin, err = os.Open(os.DevNull); err != nil {
		p.Out.Close()
		p.Errs.Close()
		return err
	}
	p.Argv = append(p.Argv, m.Args...)
	p.Env = append(append(p.Env, l.spec.Env...), m.Env...)
	return l.crew.Start(p)
}

// programOf returns what to execute: the program of the job if none is named.
func (l *launcher) programOf(name string) (*program, error) {
	if name == "" || name == l.spec.Program {
		return l.prog, nil
	}
	if p := l.programs[name]; p != nil {
		return p, nil
	}
	p, err := findProgram(name, l.crew.Build, func(said string) { l.rep.building(said) })
	if err == nil {
		l.programs[name] = p
	}
	return p, err
}
