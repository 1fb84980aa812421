package remotedaemon

import (
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A revocation outlives the process that made it (B24). Between nodes it is sent over the
// connections of the members. The revoker may die before one of them is open, or its kernel may
// drop bytes that were still to be sent. A process therefore notifies its daemon before it notifies
// members; once the process has died its daemon sends its revocations to all ranks of all nodes. A
// living process needs no daemon for that: its connections deliver everything.
//
//	0: notifies its daemon; requests a connection to 2; Revoke returns
//	0: is killed                  its connection to 2 is not there yet
//	1, 2: wait for each other     and would for ever
//	0's daemon: reads its last message; 0 died; it had revoked
//
// A revocations holds the revocations by the processes of a node, until they have died or left.
type revocations struct {
	mu sync.Mutex
	by map[int][]revocation // by process
}

// A revocation is a commstate.Revocation, opaque here.
type revocation = [16]byte

// revocationsMax is the number of revocations that are kept for each process, the last ones: it
// bounds the memory that a process that revokes without end costs its daemon.
const revocationsMax = 4096

// add notes that a process revokes a communicator.
func (r *revocations) add(proc int, name revocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[int][]revocation{}
	}
	if slices.Contains(r.by[proc], name) {
		return
	}
	if len(r.by[proc]) == revocationsMax {
		r.by[proc] = r.by[proc][1:]
	}
	r.by[proc] = append(r.by[proc], name)
}

// take returns the revocations by a process, and forgets them.
func (r *revocations) take(proc int) []revocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.by[proc]
	delete(r.by, proc)
	return all
}

// outlive sends the revocations by a process that has died to all ranks of all nodes.
func (o *nodeDaemon) outlive(proc int) {
	var entries []membership.Entry
	for _, name := range o.revocations.take(proc) {
		entries = append(entries, membership.Entry{Kind: membership.Revoked, Name: name})
		o.tellRevoked(name)
	}
	if pausepoint.Enabled {
		pausepoint.At("remotedaemon.outlives")
	}
	if len(entries) > 0 {
		o.driver.Publish(entries...)
	}
}

// tellRevoked notifies the ranks of this node of a revocation by a process that has died.
func (o *nodeDaemon) tellRevoked(name revocation) {
	for slot, node := range o.roll.nodes {
		if node == o.boot.Node {
			o.d.Say(o.d.Number(slot), rankproto.Revoked{Name: name[:]})
		}
	}
}
