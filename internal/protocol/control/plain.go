package control

import (
	"github.com/goulfm/goulfm/era/onenode"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
)

// The fast path of an agree on one node makes no event, no action and no value, and allocates
// nothing:
//
//	if c.Plain(comm) {
//		seq := c.EnterPlain(comm, call, flag)
//		for {
//			flag, state := c.PollPlain(comm)
//			// Decided: done. Mixed: Step(Propose{Entered: true, ...}). Waiting: poll
//			// again, or, to wait without polling, Step(Propose{Entered: true, ...}).
//		}
//	}
//
// Its calls follow the rule of Step: one goroutine at a time. Other Steps may come
// between them, but no Propose of an agree or shrink on the same communicator.

// Looking reports whether a Look at communicator comm may decide something: an agreement in memory
// is open here, although perhaps no caller still waits for it. While Looking is true, the host must
// give a Look when the memory has changed.
func (c *Control) Looking(comm uint32) bool {
	cm := c.comm.live(comm)
	return cm != nil && cm.Looking()
}

// Plain reports whether an agree, or agree_failed, on communicator comm can be entered plainly now.
// See commstate.Comm.
func (c *Control) Plain(comm uint32) bool {
	cm := c.comm.live(comm)
	return cm != nil && !c.fenced && cm.Plain()
}

// EnterPlain contributes flag to the next agreement on comm and returns its number.
// Plain must hold.
func (c *Control) EnterPlain(comm uint32, call commstate.Call, flag uint64) (seq uint64) {
	return c.comm.live(comm).EnterPlain(call, flag)
}

// ConcludePlain ends the agreement that was entered plainly on comm. PollPlain must have returned
// Decided for the agreement at another member.
func (c *Control) ConcludePlain(comm uint32) { c.comm.live(comm).ConcludePlain() }

// PollPlain polls the agreement that was entered plainly on comm. With Decided, flag is its result,
// without an error and without dead. With Mixed, the caller must continue with a Propose that has
// Entered set and is answered as usual.
func (c *Control) PollPlain(comm uint32) (flag uint64, state onenode.PlainState) {
	cm := c.comm.live(comm)
	if cm == nil || c.fenced {
		return 0, onenode.Mixed
	}
	return cm.PollPlain()
}
