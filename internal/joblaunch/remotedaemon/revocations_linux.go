package remotedaemon

import (
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/joblaunch/rankproto"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A revocation outlives the process that made it (B24). Between nodes it goes by the connections of
// the members, and who revokes may die before one of them is open, or its kernel drops what it had
// still to send. So a process tells its daemon before it tells members; once it has died its daemon
// tells all ranks of all nodes what it had revoked. Who lives needs no daemon for that: its
// connections bring everything.
//
//	0: tells its daemon; asks for a connection to 2; Revoke returns
//	0: is killed                  its connection to 2 is not there yet
//	1, 2: wait for each other     and would for ever
//	0's daemon: hears it out; 0 died; it had revoked
//
// A revocations is what the processes of a node have revoked, until they have died or left.
type revocations struct {
	mu sync.Mutex
	by map[int][]revocation // by process
}

// A revocation is a member.Revocation, which means nothing here.
type revocation = [16]byte

// revocationsMax is of how many communicators one process's revocations are kept, the last ones: it
// bounds what a process that revokes without end costs its daemon.
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

// take returns what a process has revoked, and forgets it.
func (r *revocations) take(proc int) []revocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.by[proc]
	delete(r.by, proc)
	return all
}

// outlive tells all ranks of all nodes what a process had revoked, which has died.
func (o *outpost) outlive(proc int) {
	var entries []membership.Entry
	for _, name := range o.revocations.take(proc) {
		entries = append(entries, membership.Entry{Kind: membership.Revoked, Name: name})
		o.tellRevoked(name)
	}
	if pausepoint.Enabled {
		pausepoint.At("outpost.outlives")
	}
	if len(entries) > 0 {
		o.vigil.Publish(entries...)
	}
}

// tellRevoked tells the ranks of this node of a revocation by a process that has died.
func (o *outpost) tellRevoked(name revocation) {
	for seat, node := range o.roll.nodes {
		if node == o.boot.Node {
			o.d.Say(o.d.Number(seat), rankproto.Revoked{Name: name[:]})
		}
	}
}
