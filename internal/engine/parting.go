package engine

import (
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/departure"
)

// last is a notice of this process's last collective on a communicator, before it is sent.
type last struct {
	to int // process
	departure.Last
}

// lasts returns the notices for members of other worlds. The caller holds mu.
func (p *Proc) lasts() (lasts []last) {
	for _, c := range p.live {
		for rank, proc := range c.group.Procs {
			if p.world.RankOf(proc) < 0 {
				lasts = append(lasts, last{proc, departure.Last{Index: c.group.Indices[rank], Number: c.calls.Last()}})
			}
		}
	}
	return lasts
}

// tellLasts sends the last collectives, in front of everything that reports that this process has
// left.
func (e *ending) tellLasts() {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	for _, l := range e.lasts {
		e.p.links.sendControl(l.to, l.Frame())
	}
	e.lasts = nil
}

// hearLast notes the last collective of a process that is about to leave. The communicator may not
// exist here yet.
func (p *Proc) hearLast(from int, frame []byte) {
	l, err := departure.Read(frame)
	if err != nil {
		p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
		return
	}
	c := p.commAt(l.Index)
	if c == nil && p.ctl.State(l.Index) == control.Pending {
		p.gone.early.Keep(from, l)
		return
	}
	if c == nil || c.RankOf(from) < 0 || p.world.RankOf(from) >= 0 {
		return // freed here
	}
	c.gone.Hear(from, l.Number)
}

// goesOn reports whether the collective with that number continues although members have left.
func goesOn(c *Comm, number uint32) bool { return !c.revoked && c.gone.GoesOn(number) }

// outlives reports whether a request is a collective that continues.
func (r *Request) outlives() bool {
	switch r.kind {
	case scheduleRequest:
		return goesOn(r.comm, r.schedule.number)
	case collectiveRequest:
		// advanceRequest checks whether the collective waits for a member that has left
		return goesOn(r.comm, r.comm.calls.Last())
	}
	return false
}

// awaitsParted reports whether the open collective in memory waits for a member that has left: that
// member publishes nothing any more.
func awaitsParted(c *Comm) bool {
	if !c.gone.HasParted() || c.coll == nil {
		return false
	}
	for rank, proc := range c.group.Procs {
		if c.p.isDead(proc) && c.coll.WaitsFor(rank) {
			return true
		}
	}
	return false
}
