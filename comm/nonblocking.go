package comm

import "github.com/goulfm/goulfm/internal/protocol/commstate"

// Ishrink starts a Shrink. Ishrink raises no failure error, and c stays usable during the call as
// before (R43). To the other members the call is the same as Shrink: some may make the one call and
// some the other. Several may be under way and match in the order of the calls. The new
// communicator has this member even if the program never waits for the result.
func (c *Comm) Ishrink() *Pending[*Comm] {
	return pending(c.start(commstate.KindShrink, "ishrink"), (*started).shrunk)
}

// IagreeFailed starts an AgreeFailed: some members may make the one call and some the other.
func (c *Comm) IagreeFailed() *Pending[Group] {
	return pending(c.start(commstate.KindAgreeFailed, "iagree_failed"), (*started).failed)
}

func (s *started) shrunk() *Comm { return shrunk(s.c, s.made) }

func (s *started) failed() Group { return s.c.groupOf(s.out.Dead) }
