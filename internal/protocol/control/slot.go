package control

import (
	"slices"

	"github.com/goulfm/goulfm/fd"
)

// A slot of the node's tables may be used by another process when nobody refers to the one that
// had it (package node). Here nothing does when this process has heard of its departure, and no
// communicator of this process has it as a member, nor may get it as one. That an agreement has
// declared it dead is not enough: the news of its departure, which comes later, would be taken
// for that of the next process. Of a process that is lost with its node it is never forgotten that
// it is dead: it may run on, and speak (F6). Nobody gets a slot of that node.
//
// What is known of such a process is forgotten, and LetGo says so, once. The next process in the
// slot is met by a Spawn, as a process that nobody knows. Schedule that makes it necessary to
// wait for communicators, 0 and 1 with 2 in slot 2:
//
//	0: agrees on a communicator with 2: 2 is dead       1: has not looked yet
//	                                                    a new process gets slot 2
//	                                                    1: reads the decision: "2 is dead"
//
// 1 has that communicator, so it has not let go of 2, and the launcher does not give the slot away.

// letGo forgets the processes that are gone and to which nothing refers.
func (c *Control) letGo() {
	gone := c.dead.Clone()
	gone.Union(c.left)
	for proc := range gone.All() {
		if !c.departed.Has(proc) || c.lost.Has(proc) || c.refersTo(proc) {
			continue
		}
		c.departed.Remove(proc)
		c.dead.Remove(proc)
		c.left.Remove(proc)
		c.met.Remove(proc)
		c.seen = slices.DeleteFunc(c.seen, func(p int) bool { return p == proc })
		c.stepDetector(fd.Vacated{Rank: proc})
		c.act(LetGo{Proc: proc})
	}
}

// refersTo reports whether a process is a member of a communicator, or may become a member: the
// communicator of a Spawn under way has unknown members, and needs their memory. A process that was
// a member of another communicator had its slot before. So a member that waits in a Replace lets go
// of an earlier process, and the Replace may need its slot:
//
//	0, 1, 2   begin an attempt, in which 3 has replaced a dead process; the communicators with the dead begin to close
//	1         dies
//	0, 2      shrink; 2 is in Replace, and the first communicator closes
//	launcher  has one slot, and waits until 2 lets go of the process that had it
//
// A process of an earlier Replace that has failed is kept until the Replace is over, like a process
// of this Replace.
func (c *Control) refersTo(proc int) bool {
	for _, s := range c.comm.all() {
		switch s.state {
		case Live:
			if _, belongs := s.comm.rank(proc); belongs {
				return true
			}
		case Pending:
			if _, belongs := s.wait.parent.rank(proc); belongs || s.wait.spawns && !c.met.Has(proc) {
				return true
			}
		}
	}
	return false
}
