package control

import (
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// An early holds revocations whose revokers have died, of communicators that are not there yet
// (B24): while a call is undecided here that may make a communicator, it may be that one.
//
//	0 and 1 dup. 0 decides, revokes the duplicate, and dies.
//	1's daemon tells of the revocation; then 1 decides: there is the duplicate.
type early struct{ names []commstate.Revocation }

// hear returns the communicator that a process which has died had revoked, or nil if there is none.
func (e *early) hear(t *table, r commstate.Revocation) *communicator {
	for cm := range t.comms() {
		if r.Meets(*cm.Group()) {
			return cm
		}
	}
	switch {
	case !t.hasPending():
		e.names = nil
	case !slices.Contains(e.names, r):
		e.names = append(e.names, r)
	}
	return nil
}

// take says whether a communicator was revoked before it was there.
func (e *early) take(g commstate.Group) bool {
	i := slices.IndexFunc(e.names, func(r commstate.Revocation) bool { return r.Meets(g) })
	if i >= 0 {
		e.names = slices.Delete(e.names, i, i+1)
	}
	return i >= 0
}

// hasPending says whether a call is undecided here that may make a communicator.
func (t *table) hasPending() bool {
	for _, s := range t.all() {
		if s.state == Pending {
			return true
		}
	}
	return false
}
