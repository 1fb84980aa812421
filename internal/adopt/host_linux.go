package adopt

import (
	"fmt"
	"os"

	"github.com/goulfm/goulfm/internal/daemon"
	"github.com/goulfm/goulfm/internal/job"
	"github.com/goulfm/goulfm/internal/jobhost"
	"github.com/goulfm/goulfm/internal/lifeline"
)

// A host does for adopted processes what the rules of a job decide. The exit code of the job is
// the engine's, so there is no verdict; and there is no story.
type host struct {
	jobhost.Base
	daemon *daemon.Daemon // Base's
	ended  func(rank int) // is told of each end
}

// Found, NoLife, Note and Said are what the daemon tells: see daemon.Host.

// Found is told that a process has ended.
func (h *host) Found(proc int, by job.Evidence, left bool, atNs int64) {
	h.Base.Found(proc, by, left, atNs)
	h.ended(proc)
}

// NoLife does nothing: nobody watches for life.
func (h *host) NoLife(int, int64) {}

// Note is told what people should know.
func (h *host) Note(_, format string, args ...any) {
	fmt.Fprintf(os.Stderr, "goulfm: "+format+"\n", args...)
}

// noSpawn is why a job engine's ranks cannot start others.
const noSpawn = "Spawn is not supported under a job engine yet: it takes goulfm run"

// Said does what a message of a process asks for.
func (h *host) Said(proc int, said lifeline.Received) error {
	if m, ok := said.Message.(lifeline.Spawn); ok {
		h.Apply(job.Wanted{Root: proc, Token: m.Token, N: m.N, Parents: m.Procs, Bad: noSpawn})
		return nil
	}
	return h.Take(proc, said)
}
