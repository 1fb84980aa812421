package adopt

import "github.com/goulfm/goulfm/internal/fleet"

// Enlisted is a daemon that a job engine has started, one on each node, with no launcher around them: the
// first one is the launcher, too.
type Enlisted struct {
	Names     []string      // of the nodes, at the first one; nil elsewhere
	Starter   fleet.Starter // at the first one: the other daemons wait for what it gives them
	Iface     string        // at the first one: the address at which it listens; empty: all
	Bootstrap []byte        // at the others: what they serve
}
