package jobhost

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A Daemon does what the rules of a job decide about processes, which are named by their numbers:
// that of the node, or those of several. It ignores an order for a process whose slot another one
// has by now.
type Daemon interface {
	// Declare has all processes know that one has departed; WakeAll follows.
	Declare(proc int, left bool)
	WakeAll()
	Signal(proc int, sig syscall.Signal)
	KillAll()
	Say(proc int, m rankproto.Message)
}

// A Base is what all hosts do; they embed it. Of daemon.Host it has Found, Reaped and Heard.
type Base struct {
	Daemon Daemon
	// More does what a decision asks of this host alone; nil: nothing. Mu is held.
	More func(job.Action)

	Mu    sync.Mutex // before the daemon's
	Rules *job.Rules
}

// Apply asks the rules what follows from an event, and does it.
func (b *Base) Apply(ev job.Event) {
	b.Mu.Lock()
	actions := b.Rules.Step(ev)
	if pausepoint.Enabled {
		pausepoint.At("launcher.decided")
	}
	wake := b.Perform(actions)
	b.Mu.Unlock()
	if wake {
		if pausepoint.Enabled {
			pausepoint.At("launcher.wakes")
		}
		b.Daemon.WakeAll()
	}
}

// Perform does what the rules ask for, in order, and returns whether processes are to be woken.
// The caller holds Mu.
func (b *Base) Perform(actions []job.Action) (wake bool) {
	for _, a := range actions {
		switch a := a.(type) {
		case job.Declare:
			b.Daemon.Declare(a.Proc, a.Left)
			wake = true
		case job.WakeAll:
			wake = true
		case job.Kill:
			b.Daemon.Signal(a.Proc, syscall.SIGKILL)
		case job.KillAll:
			b.Daemon.KillAll()
		case job.Answer:
			b.Daemon.Say(a.Root, rankproto.Spawned{Token: a.Token, First: a.First, N: a.N, Short: a.Short, Died: a.Died, Why: a.Why})
		default:
			if b.More != nil {
				b.More(a)
			}
		}
	}
	return wake
}

// Found is told that a process has ended.
func (b *Base) Found(proc int, by job.Evidence, left bool, atNs int64) {
	b.Apply(job.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
}

// Reaped is told how a process has ended.
func (b *Base) Reaped(proc int, status job.Status) {
	b.Apply(job.Reaped{Proc: proc, Status: status})
}

// Heard is told that a process has said its last.
func (b *Base) Heard(proc int) { b.Apply(job.Heard{Proc: proc}) }

// ErrTwice is told where a process says something that can be said once.
var ErrTwice = fmt.Errorf("%w: said twice", rankproto.ErrMessage)

// Take does what a message asks for that means the same to all hosts: Joined, Killing, Aborted,
// Finalizes.
// Others it leaves alone. It returns ErrTwice for a second Joined.
func (b *Base) Take(proc int, said rankproto.Received) error {
	switch m := said.Message.(type) {
	case rankproto.Joined:
		return b.join(proc)
	case rankproto.Killing:
		b.Apply(job.Killing{Proc: proc, AtNs: said.AtNs, Planned: fmt.Sprintf("%s=%d", m.Name, m.N)})
	case rankproto.Aborted:
		b.Apply(job.Aborted{Proc: proc, Code: m.Code, Others: m.Procs})
	case rankproto.Finalizes:
		b.Apply(job.Finalizes{Proc: proc, Inits: m.Inits, Finalizes: m.Finalizes})
	}
	return nil
}

// join notes that a process is in Init.
func (b *Base) join(proc int) error {
	b.Mu.Lock()
	p, _ := b.Rules.Process(proc)
	b.Mu.Unlock()
	if p.Joined {
		return ErrTwice
	}
	b.Apply(job.Joined{Proc: proc})
	return nil
}
