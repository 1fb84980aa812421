package launch

import (
	"fmt"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/boot"
	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// more performs the actions of the rules that are for a launcher alone, apart from Start and
// PassKeep: the functions that step the rules perform these two themselves. The caller holds Mu.
func (l *launcher) more(a job.Action) {
	switch a := a.(type) {
	case job.EndFenced:
		l.crew.EndFenced(a.Proc)
	case job.AllJoined:
		close(l.allJoined)
	case job.Refill:
		if a.Later {
			time.AfterFunc(refillPause, l.addSpare)
		} else {
			go l.addSpare()
		}
	case job.Waits:
		l.rep.spareWaits(a.Proc)
	case job.Lost:
		p, _ := l.Rules.Process(a.Proc)
		l.rep.died(p, l.crew.Pid(a.Proc))
	case job.Silenced:
		l.tellSilence(a)
		if p, _ := l.Rules.Process(a.Proc); !a.Killed {
			l.herald.silenced(p)
		}
	}
}

func (l *launcher) tellSilence(a job.Silenced) {
	switch {
	case a.By >= 0 && !a.Killed:
		l.rep.note("suspect", "rank %d shows no life to rank %d: declared dead (--detector ring, --fence)", a.Proc, a.By)
	case a.By >= 0:
		l.rep.note("suspect", "rank %d shows no life to rank %d: killed (--detector ring); if it was only slow, increase --timeout-factor", a.Proc, a.By)
	case a.Killed:
		l.rep.note("suspect", "rank %d shows no life for %s: killed (--suspect-after)", a.Proc, l.spec.SuspectAfter)
	default:
		l.rep.note("suspect", "rank %d shows no life for %s: declared dead (--suspect-after, --fence)", a.Proc, l.spec.SuspectAfter)
	}
}

// The following methods complete the launcher as a daemon.Host.

// NoLife takes in that a process shows no life.
func (l *launcher) NoLife(proc int, atNs int64) { l.Apply(job.NoLife{Proc: proc, AtNs: atNs}) }

// Note takes in a note of the daemon for the event log.
func (l *launcher) Note(event, format string, args ...any) {
	l.rep.note(event, format, args...)
	if event == daemon.Unjoined {
		l.Apply(job.Unjoined{Why: fmt.Sprintf(format, args...)})
	}
	l.herald.noted(event, format, args)
}

// Said performs the request in a message of a process.
func (l *launcher) Said(proc int, said rankproto.Received) error {
	switch m := said.Message.(type) {
	case rankproto.Fenced:
		l.Apply(job.Fenced{Proc: proc})
	case rankproto.Silent:
		for _, silent := range m.Procs {
			l.Apply(job.Silent{Proc: silent, By: proc, AtNs: said.AtNs})
		}
	case rankproto.Spawn:
		go l.spawn(proc, m)
	case rankproto.Keep:
		l.keep(proc, m)
	case rankproto.Drop:
		l.Apply(job.Unwanted{First: m.First, N: m.N, Root: m.Root, By: proc})
	case rankproto.Dump:
		l.Mu.Lock()
		l.dumps.add(proc, m)
		l.Mu.Unlock()
	case rankproto.Event:
		l.Mu.Lock()
		alive := l.aliveFor(m)
		l.Mu.Unlock()
		l.rep.event(job.SlotOf(proc), said.AtNs, m, alive)
	case rankproto.Killing:
		err := l.Take(proc, said)
		l.reached(proc, m)
		l.killNodeAt(proc, m)
		return err
	case rankproto.Joined:
		err := l.Take(proc, said)
		if err == nil {
			l.tellJoined(proc)
		}
		return err
	default:
		return l.Take(proc, said)
	}
	return nil
}

// alive are the numbers of processes that may report an event.
type alive struct {
	all, world int   // survivors; survivors of the processes with which the job began
	of         []int // for each process of the event: the survivors of its death
}

// aliveFor returns the numbers for an event. The caller holds Mu.
func (l *launcher) aliveFor(m rankproto.Event) alive {
	a := alive{all: l.Rules.Survivors(), world: l.Rules.SurvivorsOfWorld()}
	for _, p := range m.Procs {
		a.of = append(a.of, l.Rules.SurvivorsOf(p))
	}
	return a
}

// keep passes a member's Keep on to the new processes.
func (l *launcher) keep(by int, m rankproto.Keep) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	actions := l.Rules.Step(job.Kept{First: m.First, By: by, Ranked: m.Place != nil})
	for _, a := range actions {
		if a, ok := a.(job.PassKeep); ok {
			for slot := a.First; slot < a.First+a.Count; slot++ {
				p, _ := l.Rules.Occupant(slot)
				l.crew.Say(p.Number(), m)
			}
		}
	}
	l.Perform(actions)
}

// kill kills the process in the slot of a rank, as planned, unless the process has ended.
func (l *launcher) kill(k Kill) {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	p, _ := l.Rules.Occupant(k.Rank)
	actions := l.Rules.Step(job.KillDue{Proc: p.Number(), AtNs: boot.NowNs(), Planned: k.After.String()})
	if len(actions) == 0 {
		l.plan.missed(k.flag(), rankGone)
		return
	}
	l.plan.happened(k.flag())
	l.Perform(actions)
}
