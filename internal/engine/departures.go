package engine

import (
	"github.com/goulfm/goulfm/internal/base/pausepoint"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/shm/node"
)

// departures is how far a process has read the list of those that have departed.
type departures struct {
	p        *Proc
	handled  int  // entries
	newcomer bool // it learns of those that departed before it came
	reading  bool // the list
}

// begin is called before a process looks who has departed already: see meet.
func (d *departures) begin() {
	if d.newcomer = d.p.cfg.Union != nil; d.newcomer {
		d.handled = d.p.node.Departures()
	}
}

// meet has a process that others have started learn which of its communicators' members
// departed before it came, and lets go of all others that did. It reads no history: the list
// of departures keeps only the last ones.
func (d *departures) meet() {
	p := d.p
	if d.newcomer {
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
	d.newcomer = false
}

// recall has a process learn which of those that were started for a new communicator have departed
// before it was made. It may have heard of that already, and have let go of them, as nothing
// referred to them:
//
//	a newcomer waits in Init, and is killed       the launcher has told the root its seat
//	the root reads that: nothing refers to it, it forgets the death
//	the root and the others agree: the communicator has the newcomer as a member
//
// Nobody would ever tell the root again that this member is dead. The seat is not given away
// meanwhile: the launcher waits until it has heard from all who could keep the newcomers.
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

// vacate forgets a process to which nothing refers any more: its seat may be another's.
func (d *departures) vacate(proc int) {
	p := d.p
	if pausepoint.Enabled {
		pausepoint.At("engine.forgets")
	}
	if q := p.peers.Peek(proc); q != nil {
		*q = p.cfg.newPeer()
	}
	switch {
	case p.others.isAway(proc): // until then what would still be sent is dropped
		p.link.CloseControl(proc)
		p.link.CloseData(proc)
	case p.port != nil:
		p.port.Vacate(proc)
	}
	p.node.LetGo(proc)
}

// read feeds what the list of departures has gained to control.
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
	p.memory.lookRevocations() // before the deaths: who revoked and died is heard in that order
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
	// Who is of another world leaves without an agreement with this one: it will
	// take part in nothing any more, as if it were dead.
	//
	// What it said before it died is heard as if the news had come a little later.
	// Else a revocation could be lost: the revoker returns, dies, and every survivor
	// reads of the death before it reads the ring (R10).
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
