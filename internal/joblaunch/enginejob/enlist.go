package enginejob

import (
	"context"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
)

// Enlisted is a daemon that a job engine has started, one on each node, with no launcher around
// them: the first one is the launcher, too.
type Enlisted struct {
	Names     []string             // of the nodes, at the first one; nil elsewhere
	Starter   daemonclient.Starter // at the first one: the other daemons wait for what it gives them
	Iface     string               // at the first one: the address at which it listens; empty: all
	Bootstrap []byte               // at the others: what they serve

	// Grace is, where the engine may want one node back while the job goes on, the time from its
	// SIGTERM to the end of the node. Else 0.
	Grace time.Duration

	// Late is, at the first one, how many more nodes may come while the job runs.
	Late int

	// Standby is at the others. It is for a daemon that the world has begun without, as that of a
	// pod in place of a lost one, and that has no Bootstrap, or came too late with it: it waits
	// until the world has room for it, and returns what the daemon serves then, or for the end of
	// the job, and returns its code.
	Standby func(ctx context.Context) (bootstrap []byte, code int, err error)

	end func(code int)
}

// End tells those on standby, at the first daemon, with which code it has ended. It
// returns when they have heard, or after three seconds.
func (e *Enlisted) End(code int) {
	if e != nil && e.end != nil {
		e.end(code)
	}
}
