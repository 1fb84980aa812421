package launch

import (
	"fmt"
	"syscall"

	"github.com/goulfm/goulfm/internal/boot"
	"github.com/goulfm/goulfm/internal/job"
	"github.com/goulfm/goulfm/internal/lifeline"
)

// apply asks the rules what follows from an event, and does it.
func (l *launcher) apply(ev job.Event) {
	l.mu.Lock()
	wake := l.perform(l.rules.Step(ev))
	l.mu.Unlock()
	if wake {
		l.daemon.WakeAll()
	}
}

// perform does what the rules ask for, in order, but for Start and PassKeep: those events that
// lead to them do that themselves. It returns whether processes are to be woken. The caller
// holds mu.
func (l *launcher) perform(actions []job.Action) (wake bool) {
	for _, a := range actions {
		switch a := a.(type) {
		case job.Declare:
			l.daemon.Declare(a.Proc, a.Left)
			wake = true
		case job.Kill:
			l.daemon.Signal(a.Proc, syscall.SIGKILL)
		case job.KillAll:
			l.daemon.KillAll()
		case job.EndFenced:
			l.daemon.EndFenced(a.Proc)
		case job.Answer:
			l.daemon.Say(a.Root, lifeline.Spawned{Token: a.Token, First: a.First, N: a.N, Short: a.Short, Why: a.Why})
		case job.AllJoined:
			close(l.allJoined)
		case job.Lost:
			p, _ := l.rules.Process(a.Proc)
			l.rep.died(p, l.daemon.Pid(a.Proc))
		case job.Silenced:
			l.tellSilence(a)
		}
	}
	return wake
}

func (l *launcher) tellSilence(a job.Silenced) {
	switch {
	case a.By >= 0:
		l.rep.note("suspect", "rank %d shows no life to rank %d: killed (--detector ring)", a.Proc, a.By)
	case a.Killed:
		l.rep.note("suspect", "rank %d shows no life for %s: killed (--suspect-after)", a.Proc, l.spec.SuspectAfter)
	default:
		l.rep.note("suspect", "rank %d shows no life for %s: declared dead (--suspect-after, --fence)", a.Proc, l.spec.SuspectAfter)
	}
}

// Found, Reaped, Heard, Said, NoLife and Note are what the daemon tells: see daemon.Host.

// Found is told that a process has ended.
func (l *launcher) Found(proc int, by job.Evidence, left bool, atNs int64) {
	l.apply(job.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
}

// Reaped is told how a process has ended.
func (l *launcher) Reaped(proc int, status job.Status) {
	l.apply(job.Reaped{Proc: proc, Status: status})
}

// Heard is told that a process has said its last.
func (l *launcher) Heard(proc int) { l.apply(job.Heard{Proc: proc}) }

// NoLife is told of a process that shows none.
func (l *launcher) NoLife(proc int, atNs int64) { l.apply(job.NoLife{Proc: proc, AtNs: atNs}) }

// Note is told what people should know.
func (l *launcher) Note(event, format string, args ...any) { l.rep.note(event, format, args...) }

// errTwice is told where a process says something that can be said once.
var errTwice = fmt.Errorf("%w: said twice", lifeline.ErrMessage)

// Said does what a message of a process asks for.
func (l *launcher) Said(proc int, said lifeline.Received) error {
	switch m := said.Message.(type) {
	case lifeline.Joined:
		return l.joins(proc)
	case lifeline.Killing:
		l.apply(job.Killing{Proc: proc, AtNs: said.AtNs, Planned: fmt.Sprintf("%s=%d", m.Name, m.N)})
	case lifeline.Aborted:
		l.apply(job.Aborted{Proc: proc, Code: m.Code, Others: m.Procs})
	case lifeline.Fenced:
		l.apply(job.Fenced{Proc: proc})
	case lifeline.Silent:
		for _, silent := range m.Procs {
			l.apply(job.Silent{Proc: silent, By: proc})
		}
	case lifeline.Spawn:
		go l.spawn(proc, m)
	case lifeline.Keep:
		l.keep(m)
	case lifeline.Drop:
		l.apply(job.Unwanted{First: m.First, Root: m.Root})
	case lifeline.Dump:
		l.mu.Lock()
		l.dumps.add(proc, m)
		l.mu.Unlock()
	case lifeline.Event:
		l.mu.Lock()
		survivors := l.rules.Survivors()
		l.mu.Unlock()
		l.rep.event(proc, said.AtNs, m, survivors)
	}
	return nil
}

// joins notes that a process is in Init.
func (l *launcher) joins(proc int) error {
	l.mu.Lock()
	p, _ := l.rules.Process(proc)
	l.mu.Unlock()
	if p.Joined {
		return errTwice
	}
	l.apply(job.Joined{Proc: proc})
	return nil
}

// keep passes on to new processes that they are wanted.
func (l *launcher) keep(m lifeline.Keep) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.rules.Step(job.Kept{First: m.First}) {
		if a, ok := a.(job.PassKeep); ok {
			for proc := a.First; proc < a.First+a.Count; proc++ {
				l.daemon.Say(proc, m)
			}
		}
	}
}

// kill kills a process as planned.
func (l *launcher) kill(k Kill) {
	l.apply(job.KillDue{Proc: k.Rank, AtNs: boot.NowNs(), Planned: k.After.String()})
}
