package enginejob

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A host does for adopted processes what the rules of a job decide. The exit code of the job is
// the engine's, so there is no verdict; and there is no event log.
type host struct {
	jobhost.Base
	daemon *daemon.Daemon // Base's
	ended  func(rank int) // is told of each end
	isOver func() bool    // a rank of this node is through Finalize; nil: never
}

// Found, NoLife, Note and Said are what the daemon tells: see daemon.Host.

// Found is told that a process has ended.
func (h *host) Found(proc int, by job.Evidence, left bool, atNs int64) {
	h.Base.Found(proc, by, left, atNs)
	h.ended(proc)
}

// NoLife does nothing: nobody watches for life.
func (h *host) NoLife(int, int64) {}

// Note is told what people should know. That a node is gone when all its ranks have called Finalize
// is nothing that they should: engines that keep a step together by a cgroup end a node's daemon
// when the tasks there have ended.
//
//	coordinator             node 2                    Slurm
//	ranks: Finalize   <-->  ranks: Finalize, exit
//	                        daemon                <-- kills what is left of the step there
//	not heard: is lost      is gone
func (h *host) Note(event, format string, args ...any) {
	if (event == "node" || event == "suspect") && h.isOver != nil && h.isOver() {
		return
	}
	fmt.Fprintf(os.Stderr, "goulfm: "+format+"\n", args...)
}

// noSpawn is why a job engine's ranks cannot start others.
const noSpawn = "Spawn is not supported under a job engine yet: it takes goulfm run"

// Said does what a message of a process asks for.
func (h *host) Said(proc int, said rankproto.Received) error {
	if m, ok := said.Message.(rankproto.Spawn); ok {
		h.Apply(job.Wanted{Root: proc, Token: m.Token, N: m.N, Parents: m.Procs, Bad: noSpawn})
		return nil
	}
	return h.Take(proc, said)
}
