package enginejob

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
)

// Enlisted is a daemon that a job engine has started, one on each node, without a launcher. The
// first daemon is the launcher, too.
type Enlisted struct {
	Names     []string             // of the nodes, at the first daemon; nil elsewhere
	Starter   daemonclient.Starter // at the first daemon: gives the other daemons their bootstraps
	Iface     string               // at the first daemon: the address at which it listens; empty: all
	Bootstrap []byte               // at the other daemons: the job that they serve

	// Grace is the time from the engine's SIGTERM to the end of the node, if the engine may
	// reclaim one node while the job continues. Otherwise Grace is 0.
	Grace time.Duration

	// Late is, at the first daemon, the number of nodes that may come later, while the job runs.
	Late int

	// Standby is set at the other daemons. It is for a daemon that the world has begun without,
	// such as the daemon of a pod in place of a lost one, and that has no Bootstrap, or came too
	// late with it. It waits until the world has room for the daemon, and returns its bootstrap,
	// or until the end of the job, and returns the exit code.
	Standby func(ctx context.Context) (bootstrap []byte, code int, err error)

	end func(code int)
}

// End reports the exit code of the first daemon to the daemons on standby. It returns when they
// have received the code, or after three seconds.
func (e *Enlisted) End(code int) {
	if e != nil && e.end != nil {
		e.end(code)
	}
}
