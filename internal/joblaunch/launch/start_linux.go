package launch

import (
	"errors"
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

// place returns the information and the output of a new process.
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

// spawn starts the processes that a process requests. The answer follows when all are in Init, or
// one cannot be started.
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

// The times of a request for processes:
//
//   - slotsMax: how long it waits for slots of the dead to which other processes still refer.
//   - slotsOwn: the same for slots to which only the waiting requester refers, which may not have
//     learnt of the death yet.
//   - slotsSoon: how long it waits for processes that may be about to end.
//   - slotsLook: how often it polls.
const (
	slotsMax  = 10 * time.Second
	slotsOwn  = 200 * time.Millisecond
	slotsSoon = 200 // polls: on a busy machine both the launcher and the ending processes are slow
	slotsLook = time.Millisecond
)

// awaitSlots asks the rules for processes until there are slots for them; false: the rules have
// refused, and the root has the answer.
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

// want asks the rules for processes once; later: there may be slots later.
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

// notStarted is the event of a process that could not be started. It records whether the loss of
// its node is the reason.
func notStarted(number int, why error) job.NotStarted {
	return job.NotStarted{Proc: number, NodeLost: errors.Is(why, daemonclient.ErrNodeLost), Why: why.Error()}
}

// vacate makes used slots free. It must be called before anybody can learn of the next processes in
// these slots.
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

// numbers are the numbers of the processes to be started.
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
	if p.Stdin, err = daemon.NoInput(); err != nil {
		p.Out.Close()
		p.Errs.Close()
		return err
	}
	p.Argv = append(p.Argv, m.Args...)
	p.Env = append(append(p.Env, l.spec.Env...), m.Env...)
	return l.crew.Start(p)
}

// programOf returns the program to execute: the program of the job if name is empty.
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
