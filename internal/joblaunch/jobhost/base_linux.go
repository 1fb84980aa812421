package jobhost

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A Daemon carries out the decisions of the rules about processes, which are named by their
// numbers. A Daemon is the daemon of the node, or stands for the daemons of several nodes. An
// order for a process whose slot another process has by now is ignored.
type Daemon interface {
	// Declare notifies all processes of a departure; WakeAll follows.
	Declare(proc int, left bool)
	WakeAll()
	Signal(proc int, sig syscall.Signal)
	KillAll()
	Say(proc int, m rankproto.Message)
}

// A Base is the part that all hosts share and embed. Of daemon.Host, a Base implements the three
// methods about the end of a process.
type Base struct {
	Daemon Daemon
	// More carries out the actions of a decision that only this host has; nil: there are none. Mu
	// is held.
	More func(job.Action)

	Mu    sync.Mutex // locked before the daemon's
	Rules *job.Rules
}

// Apply passes an event to the rules, and carries out their actions.
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

// Perform carries out the actions of the rules, in order, and returns whether to wake processes.
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

// Found notes that a process has ended.
func (b *Base) Found(proc int, by job.Evidence, left bool, atNs int64) {
	b.Apply(job.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
}

// Reaped notes that a process has ended with a status.
func (b *Base) Reaped(proc int, status job.Status) {
	b.Apply(job.Reaped{Proc: proc, Status: status})
}

// Heard notes that all messages of an ended process were passed on.
func (b *Base) Heard(proc int) { b.Apply(job.Heard{Proc: proc}) }

// ErrTwice is the error about a second message of a type that a process may send once.
var ErrTwice = fmt.Errorf("%w: said twice", rankproto.ErrMessage)

// Take handles the messages that mean the same to all hosts: Joined, Killing, Aborted, Finalizes.
// Take ignores other messages, and returns ErrTwice for a second Joined.
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

// join records that a process is in Init.
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
