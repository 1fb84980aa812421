package comm

import "github.com/goulfm/goulfm/internal/protocol/commstate"

// Ishrink starts a Shrink. Starting it raises no error of failures, and c works on
// meanwhile as it did (R43). It is the same call as Shrink to the other members: some
// may make the one and some the other. Several may be under way; they match in the
// order of the calls. What it makes is a communicator of this member also if the
// program never waits for it.
func (c *Comm) Ishrink() *Pending[*Comm] {
	return pending(c.start(commstate.KindShrink, "ishrink"), (*started).shrunk)
}

// IagreeFailed starts an AgreeFailed; to the other members it is the same call.
func (c *Comm) IagreeFailed() *Pending[Group] {
	return pending(c.start(commstate.KindAgreeFailed, "iagree_failed"), (*started).failed)
}

func (s *started) shrunk() *Comm { return shrunk(s.c, s.made) }

func (s *started) failed() Group { return s.c.groupOf(s.out.Dead) }
