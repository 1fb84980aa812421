package control

import (
	"slices"

	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// An early holds revocations whose revokers have died, of communicators that do not exist here yet
// (B24). A call that is undecided here may make the revoked communicator.
//
//	0 and 1 dup. 0 decides, revokes the duplicate, and dies.
//	1's daemon reports the revocation; then 1 decides: there is the duplicate.
type early struct{ names []commstate.Revocation }

// hear returns the communicator of a revocation whose revoker has died. If there is none, hear
// returns nil and keeps the revocation while a call is undecided.
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

// take reports whether a communicator was revoked before it existed here.
func (e *early) take(g commstate.Group) bool {
	i := slices.IndexFunc(e.names, func(r commstate.Revocation) bool { return r.Meets(g) })
	if i >= 0 {
		e.names = slices.Delete(e.names, i, i+1)
	}
	return i >= 0
}

// hasPending reports whether a call that may make a communicator is undecided here.
func (t *table) hasPending() bool {
	for _, s := range t.all() {
		if s.state == Pending {
			return true
		}
	}
	return false
}
