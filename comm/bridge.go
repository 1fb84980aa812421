package comm

import (
	"slices"

	"github.com/goulfm/goulfm/internal/commhooks"
	"github.com/goulfm/goulfm/internal/engine"
	"github.com/goulfm/goulfm/internal/shm/rankstore"
)

// init opens the door to the sibling packages.
func init() {
	commhooks.Open(commhooks.Door[Comm, Intercomm, Request, Config]{
		Settings:   Config.engine,
		World:      newWorld,
		WorldOf:    newWorldOf,
		Engine:     func(c *Comm) *engine.Comm { return c.e },
		Raise:      (*Comm).raise,
		OuterRanks: (*Comm).outerRanks,
		Edges:      (*Comm).edges,
		Sides:      (*Intercomm).sides,
		Intercomm:  newIntercomm,
		Request:    (*Comm).requestOf,
		NotStarted: notStarted,
		Family:     beginFamily,
		NodeMemory: func(c *Comm) *rankstore.Memory { return c.w.memory },
	})
}

// newWorld returns the world of a process with a running engine.
func newWorld(p *engine.Proc) *Comm { return &Comm{e: p.World(), w: &world{proc: p}} }

// newWorldOf is newWorld in a job.
func newWorldOf(p *engine.Proc, j commhooks.Job) *Comm {
	c := newWorld(p)
	c.w.starter, c.w.reached, c.w.memory, c.w.log = j.Starter, j.Mark, j.Memory, j.Log
	if j.Place != nil {
		c.w.takeParent(j.Place)
	}
	return c
}

// edges is Neighbors with the order in which several edges from one rank are taken.
func (c *Comm) edges() (in, out, arrivals []int, ok bool) {
	if c.topo == nil {
		return nil, nil, nil, false
	}
	in, out = c.topo.neighbors(c.Rank())
	return in, out, c.topo.arrivals(c.Rank()), true
}

// sides returns a communicator of both groups, and the ranks there of each.
func (ic *Intercomm) sides() (union *Comm, local, remote []int) {
	return ic.c, slices.Clone(ic.c.side.local), slices.Clone(ic.c.side.remote)
}

// requestOf is the request of an operation that a sibling has started on c.
func (c *Comm) requestOf(h engine.Handle, op string) Request {
	return Request{c: c, h: h, peer: Any, call: callOf(op)}
}
