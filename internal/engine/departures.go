package engine

import (
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/departure"
	"github.com/goulfm/goulfm/internal/shm/node"
)

// departures is how far a process has read the list of those that have departed.
type departures struct {
	p         *Proc
	handled   int             // entries
	isSpawned bool            // this process learns of departures before its start
	reading   bool            // the list
	early     departure.Early // notices for communicators that may be made
}

// begin is called before a process checks which processes have departed already: see meet.
func (d *departures) begin() {
	if d.isSpawned = d.p.cfg.Union != nil; d.isSpawned {
		d.handled = d.p.node.Departures()
	}
}

// meet has a process that others started learn which of its communicators' members departed before
// it came, and lets go of all others that did. The history is not read: the list of departures
// keeps only the last ones.
func (d *departures) meet() {
	p := d.p
	if d.isSpawned {
		for proc := range p.node.Started() {
			switch of, departed := p.node.HasDeparted(proc); {
			case !departed || proc == p.me:
			case p.world.RankOf(proc) < 0 && p.union.RankOf(proc) < 0:
				p.node.LetGo(proc)
			default:
				d.depart(of)
			}
		}
	}
	p.node.LetGo(p.me)
	d.isSpawned = false
}

// recall has a process learn which of those that were started for a new communicator have departed
// before the communicator was made. The process may have learned of these departures already and
// let go of the departed, because nothing referred to them:
//
//	a new process waits in Init, and is killed    the launcher has sent the root its slot
//	the root reads that: nothing refers to it, it forgets the death
//	the root and the others agree: the communicator has the spawned process as a member
//
// No later notice would inform the root that this member is dead. The slot is not reassigned
// meanwhile: the launcher waits for an answer from all processes that could keep the spawned
// processes.
func (d *departures) recall(parent *Comm, g *commstate.Group) {
	p := d.p
	for _, proc := range g.Procs {
		if parent.RankOf(proc) >= 0 {
			continue
		}
		if of, departed := p.node.HasDeparted(proc); departed {
			p.node.Recall(proc)
			d.depart(of)
		}
	}
}

// vacate forgets a process to which nothing refers any more: its slot may be another's.
func (d *departures) vacate(proc int) {
	p := d.p
	if pausepoint.Enabled {
		pausepoint.At("engine.forgets")
	}
	if q := p.peers.Peek(proc); q != nil {
		*q = p.cfg.newPeer()
	}
	switch {
	case p.others.isAway(proc): // until then frames that would still be sent are dropped
		p.link.CloseControl(proc)
		p.link.CloseData(proc)
	case p.port != nil:
		p.port.Vacate(proc)
	}
	p.node.LetGo(proc)
}

// read feeds new entries of the list of departures to control.
func (d *departures) read() bool {
	p := d.p
	e := p.node.Epoch()
	if e == p.epochSeen.Load() {
		return false
	}
	p.epochSeen.Store(e)
	outer := d.reading
	d.reading = true
	defer func() { d.reading = outer }()
	p.memory.pollRevocations() // before the deaths: news of a revocation, then its revoker's death
	for {
		of, ok := p.node.Departure(d.handled)
		if !ok {
			break
		}
		d.handled++
		if !of.Past {
			d.depart(of)
		}
	}
	return true
}

// depart lets the departure of a process take effect.
func (d *departures) depart(of node.Departure) {
	p := d.p
	if !of.Died && p.world.RankOf(of.Proc) >= 0 {
		p.rules.step(control.Left{Proc: of.Proc})
		return
	}
	p.memory.stores.silence(p, of.Proc)
	// A process of another world leaves without an agreement with this one. It takes part in
	// nothing any more, as if it were dead.
	//
	// Control frames that it sent before it died are read as if the news had come a little later.
	// Otherwise a revocation could be lost: the revoker returns, dies, and every survivor reads of
	// the death before it reads the ring (R10).
	p.links.readControl(of.Proc)
	if pausepoint.Enabled {
		pausepoint.At("engine.departs")
	}
	if of.Lost {
		p.rules.step(control.Lost{Proc: of.Proc})
		return
	}
	if !of.Died {
		p.rules.step(control.Departed{Proc: of.Proc})
		return
	}
	p.rules.step(control.Exited{Proc: of.Proc})
}
