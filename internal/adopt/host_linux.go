package adopt

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/goulfm/goulfm/internal/daemon"
	"github.com/goulfm/goulfm/internal/job"
	"github.com/goulfm/goulfm/internal/lifeline"
)

// A host does for adopted processes what the rules of a job decide. The exit code of the job is
// the engine's, so there is no verdict; and there is no story.
type host struct {
	daemon *daemon.Daemon
	ended  func(rank int) // is told of each end

	mu    sync.Mutex // before the daemon's
	rules *job.Rules
}

// apply asks the rules what follows from an event, and does it.
func (h *host) apply(ev job.Event) {
	h.mu.Lock()
	wake := h.perform(h.rules.Step(ev))
	h.mu.Unlock()
	if wake {
		h.daemon.WakeAll()
	}
}

// perform does what the rules ask for, in order, and returns whether processes are to be woken.
// The caller holds mu. Nothing is ever started, kept, fenced or silenced here.
func (h *host) perform(actions []job.Action) (wake bool) {
	for _, a := range actions {
		switch a := a.(type) {
		case job.Declare:
			h.daemon.Declare(a.Proc, a.Left)
			wake = true
		case job.Kill:
			h.daemon.Signal(a.Proc, syscall.SIGKILL)
		case job.KillAll:
			h.daemon.KillAll()
		case job.Answer:
			h.daemon.Say(a.Root, lifeline.Spawned{Token: a.Token, First: a.First, N: a.N, Short: a.Short, Why: a.Why})
		}
	}
	return wake
}

// Found, Reaped, Heard, Said, NoLife and Note are what the daemon tells: see daemon.Host.

// Found is told that a process has ended.
func (h *host) Found(proc int, by job.Evidence, left bool, atNs int64) {
	h.apply(job.Found{Proc: proc, By: by, Left: left, AtNs: atNs})
	h.ended(proc)
}

// Reaped is told how a process has ended.
func (h *host) Reaped(proc int, status job.Status) { h.apply(job.Reaped{Proc: proc, Status: status}) }

// Heard is told that a process has said its last.
func (h *host) Heard(proc int) { h.apply(job.Heard{Proc: proc}) }

// NoLife does nothing: nobody watches for life.
func (h *host) NoLife(int, int64) {}

// Note is told what people should know.
func (h *host) Note(_, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "goulfm: "+format+"\n", args...)
}

// noSpawn is why a job engine's ranks cannot start others.
const noSpawn = "Spawn is not supported under a job engine yet: it takes goulfm run"

// errTwice is told where a process says something that can be said once.
var errTwice = fmt.Errorf("%w: said twice", lifeline.ErrMessage)

// Said does what a message of a process asks for.
func (h *host) Said(proc int, said lifeline.Received) error {
	switch m := said.Message.(type) {
	case lifeline.Joined:
		return h.joins(proc)
	case lifeline.Killing:
		h.apply(job.Killing{Proc: proc, AtNs: said.AtNs, Planned: fmt.Sprintf("%s=%d", m.Name, m.N)})
	case lifeline.Aborted:
		h.apply(job.Aborted{Proc: proc, Code: m.Code, Others: m.Procs})
	case lifeline.Spawn:
		h.apply(job.Wanted{Root: proc, Token: m.Token, N: m.N, Parents: m.Procs, Bad: noSpawn})
	}
	return nil
}

// joins notes that a process is in Init.
func (h *host) joins(proc int) error {
	h.mu.Lock()
	p, _ := h.rules.Process(proc)
	h.mu.Unlock()
	if p.Joined {
		return errTwice
	}
	h.apply(job.Joined{Proc: proc})
	return nil
}
