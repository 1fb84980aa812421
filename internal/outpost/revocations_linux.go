package outpost

import (
	"slices"
	"sync"

	"github.com/goulfm/goulfm/internal/lifeline"
	"github.com/goulfm/goulfm/internal/roster"
)

// A revocation outlives the process that made it (B24). Between nodes it goes by the connections of the members, and
// who revokes may die before one of them is open, or its kernel drops what it had still to send. So a process tells
// its daemon before it tells members; once it has died its daemon tells all ranks of all nodes what it had revoked.
// Who lives needs no daemon for that: its connections bring everything.
//
//	0: tells its daemon; asks for a connection to 2; Revoke returns
//	0: is killed                  its connection to 2 is not there yet
//	1, 2: wait for each other     and would for ever
//	0's daemon: hears it out; 0 died; it had revoked
//
// A revocations is what the processes of a node have revoked, until they have died or left.
type revocations struct {
	mu sync.Mutex
	by map[int][]revocation // by seat
}

// A revocation is a member.Revocation, which means nothing here.
type revocation = [16]byte

// revocationsMax is of how many communicators one process's revocations are kept, the last ones: it bounds what a process
// that revokes without end costs its daemon.
const revocationsMax = 4096

// add notes that the process of a seat revokes a communicator.
func (r *revocations) add(seat int, name revocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[int][]revocation{}
	}
	if slices.Contains(r.by[seat], name) {
		return
	}
	if len(r.by[seat]) == revocationsMax {
		r.by[seat] = r.by[seat][1:]
	}
	r.by[seat] = append(r.by[seat], name)
}

// take returns what the process of a seat has revoked, and forgets it.
func (r *revocations) take(seat int) []revocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.by[seat]
	delete(r.by, seat)
	return all
}

// outlive tells all ranks of all nodes what the process of a seat had revoked, which has died.
func (o *outpost) outlive(seat int) {
	var entries []roster.Entry
	for _, name := range o.revocations.take(seat) {
		entries = append(entries, roster.Entry{Kind: roster.Revoked, Name: name})
		o.tellRevoked(name)
	}
	if len(entries) > 0 {
		o.vigil.Publish(entries...)
	}
}

// tellRevoked tells the ranks of this node of a revocation by a process that has died.
func (o *outpost) tellRevoked(name revocation) {
	for seat, node := range o.roll.nodes {
		if node == o.boot.Node {
			o.d.Say(seat, lifeline.Revoked{Name: name[:]})
		}
	}
}
