package enginejob

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/job"
)

// A host carries out the decisions of the rules of a job for adopted processes. The engine
// handles the exit code of the job, so there is no verdict; and there is no event log.
type host struct {
	jobhost.Base
	daemon *daemon.Daemon // Base's
	ended  func(rank int) // receives each end
	isOver func() bool    // a rank of this node is through Finalize; nil: never
}

// Found, NoLife, Note and Said are the reports of the daemon: see daemon.Host.

// Found: a process has ended.
func (h *host) Found(proc int, by job.Evidence, left bool, atNs int64) {
	h.Base.Found(proc, by, left, atNs)
	h.ended(proc)
}

// NoLife does nothing: the daemon does not check for signs of life.
func (h *host) NoLife(int, int64) {}

// Note prints a report for the user. It omits that a node is lost once all its ranks have called
// Finalize, because that is normal: engines that keep a step together by a cgroup end a node's
// daemon when the tasks there have ended.
//
//	coordinator             node 2                    Slurm
//	ranks: Finalize   <-->  ranks: Finalize, exit
//	                        daemon                <-- kills the rest of the step there
//	no beats: is lost       has ended
func (h *host) Note(event, format string, args ...any) {
	if (event == "node" || event == "suspect") && h.isOver != nil && h.isOver() {
		return
	}
	fmt.Fprintf(os.Stderr, "goulfm: "+format+"\n", args...)
}

// noSpawn is the reason why a job engine's ranks cannot start others.
const noSpawn = "Spawn is not supported under a job engine yet: it takes goulfm run"

// Said handles a message of a process.
func (h *host) Said(proc int, said rankproto.Received) error {
	if m, ok := said.Message.(rankproto.Spawn); ok {
		h.Apply(job.Wanted{Root: proc, Token: m.Token, N: m.N, Parents: m.Procs, Bad: noSpawn})
		return nil
	}
	return h.Take(proc, said)
}
