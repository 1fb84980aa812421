package control

import (
	"slices"

	"github.com/goulfm/goulfm/fd"
)

// A slot of the node's tables may be used by another process when no process refers to its last
// occupant (package node). This process does not refer to the occupant when it has learnt of the
// departure from the list of its node, and no communicator of this process has the occupant as a
// member or may get it as a member. A death that was only agreed is not enough: the entry of the
// departure comes later and would be taken for the departure of the next process in the slot. The
// death of a process that is lost with its node is never forgotten: the process may still run and
// send (F6). No process gets a slot of that node.
//
// Control forgets all it knows of such a process, and reports LetGo once. A Spawn introduces the
// next process in the slot as an unknown process. This schedule makes it necessary to wait for
// communicators, 0 and 1 with 2 in slot 2:
//
//	0: agrees on a communicator with 2: 2 is dead       1: has not polled yet
//	                                                    a new process gets slot 2
//	                                                    1: reads the decision: "2 is dead"
//
// 1 has this communicator, so 1 has not let go of 2, and the launcher does not assign the slot.

// letGo forgets the processes that have ended and to which nothing refers.
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
//	0, 1, 2   begin an attempt, in which 3 has replaced a dead process;
//	          the communicators with the dead begin to close
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
