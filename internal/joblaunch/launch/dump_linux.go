package launch

import (
	"fmt"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// dumps are what processes say that they wait for, when all are asked.
type dumps map[int]rankproto.Dump

func (d *dumps) add(proc int, m rankproto.Dump) {
	if *d != nil { // somebody has asked
		(*d)[proc] = m
	}
}

func (l *launcher) timeUp() {
	l.dump(fmt.Sprintf("after --timeout %s", l.spec.Timeout))
	l.stop(ExitTimeout, fmt.Sprintf("--timeout %s", l.spec.Timeout))
}

// dumpMax is how long a dump waits for the answers of processes.
const dumpMax = 2 * time.Second

// dump asks every process what it waits for, and prints the answers.
func (l *launcher) dump(why string) {
	l.Mu.Lock()
	l.dumps = dumps{}
	for _, p := range l.Rules.Processes() {
		if p.Joined {
			l.crew.Say(p.Number(), rankproto.Describe{})
		}
	}
	l.Mu.Unlock()
	deadline := time.Now().Add(dumpMax)
	for tick := time.NewTicker(5 * time.Millisecond); time.Now().Before(deadline) && !l.allDumped(); <-tick.C {
	}
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.rep.dump(why, l.dumpsOf(l.Rules.Processes()))
}

func (l *launcher) allDumped() bool {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	for _, p := range l.Rules.Processes() {
		if _, said := l.dumps[p.Number()]; !said && !p.Reaped && p.Joined {
			return false
		}
	}
	return true
}

// A dumped is a process and what it said; dump nil: nothing.
type dumped struct {
	job.Process
	pid  int
	dump *rankproto.Dump
}

// dumpsOf adds to processes what they have said. The caller holds mu.
func (l *launcher) dumpsOf(processes []job.Process) (all []dumped) {
	for _, p := range processes {
		x := dumped{Process: p, pid: l.crew.Pid(p.Number())}
		if m, said := l.dumps[p.Number()]; said {
			x.dump = &m
		}
		all = append(all, x)
	}
	return all
}
