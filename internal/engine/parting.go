package engine

import (
	"encoding/binary"
	"errors"

	"github.com/goulfm/goulfm/internal/protocol/control"
)

// A process of another world leaves without an agreement with this one. It may have completed a
// collective that is still open here, and is not needed there any more:
//
//	process of world 2           a slower process of world 1
//	completes collective 7
//	Finalize, ends
//	                             reads the departure
//	                             completes collective 7 with the frames of the other
//
// Before it leaves, such a process therefore sends each member of another world the number of its
// last collective on each communicator that they share. Collectives up to that number continue
// without it, and fail only where they need a frame that it has not sent; later ones fail as after
// a death.

// kindLast is the first byte of a control frame: the number of the sender's last collective on a
// communicator.
const kindLast = 0x90

// last is such a frame, before it is sent.
type last struct {
	to     int    // process
	index  uint32 // of the communicator, at to
	number uint32
}

var errLast = errors.New("malformed frame of a last collective")

func (l last) frame() []byte {
	return binary.AppendUvarint(binary.AppendUvarint([]byte{kindLast}, uint64(l.index)), uint64(l.number))
}

func readLast(frame []byte) (l last, err error) {
	if len(frame) == 0 || frame[0] != kindLast {
		return l, errLast
	}
	index, n := binary.Uvarint(frame[1:])
	if n <= 0 || index != uint64(uint32(index)) {
		return l, errLast
	}
	number, m := binary.Uvarint(frame[1+n:])
	if m <= 0 || number != uint64(uint32(number)) || 1+n+m != len(frame) {
		return l, errLast
	}
	return last{index: uint32(index), number: uint32(number)}, nil
}

// lasts returns the notices for members of other worlds. The caller holds mu.
func (p *Proc) lasts() (lasts []last) {
	for _, c := range p.live {
		for rank, proc := range c.group.Procs {
			if p.world.RankOf(proc) < 0 {
				lasts = append(lasts, last{proc, c.group.Indices[rank], c.collSeq})
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
		e.p.links.sendControl(l.to, l.frame())
	}
	e.lasts = nil
}

// hearLast notes the last collective of a process that is about to leave. The communicator may not
// exist here yet:
//
//	process of world 2           a late process of world 1
//	is spawned                   has contributed to the Spawn
//	completes collective 1
//	Finalize, ends
//	                             reads the notice, and the departure
//	                             reads the decision that makes the communicator
func (p *Proc) hearLast(from int, frame []byte) {
	l, err := readLast(frame)
	if err != nil {
		p.observe(Event{What: "anomaly", Procs: []int{from}, Text: err.Error()})
		return
	}
	c := p.commAt(l.index)
	if c == nil && p.ctl.State(l.index) == control.Pending {
		p.gone.keepEarly(from, l)
		return
	}
	if c == nil || c.RankOf(from) < 0 || p.world.RankOf(from) >= 0 {
		return // freed here
	}
	if c.gone.lasts == nil {
		c.gone.lasts = map[int]uint32{}
	}
	c.gone.lasts[from] = l.number
}

// keepEarly keeps a notice for a communicator that may be made.
func (d *departures) keepEarly(from int, l last) {
	if d.early == nil {
		d.early = map[uint32]map[int]uint32{}
	}
	if d.early[l.index] == nil {
		d.early[l.index] = map[int]uint32{}
	}
	d.early[l.index][from] = l.number
}

// takeEarly returns the notices that came for a communicator before it was made, by process.
func (d *departures) takeEarly(index uint32) map[int]uint32 {
	lasts := d.early[index]
	delete(d.early, index)
	return lasts
}

// gone counts the dead and departed members of a communicator.
type gone struct {
	deaths int // died or departed
	// of those: left after Finalize, with a notice of their last collective
	parted    int
	lastOfAll uint32 // collective in which all of those took part
	// by process of another world: its last collective, which it sends when it leaves
	lasts map[int]uint32
	begun bool // the frames sent now are of a collective that continues
}

// part counts a member: if it left after Finalize, collectives in which it took part continue.
func (g *gone) part(proc int, left bool) {
	g.deaths++
	number, told := g.lasts[proc]
	if !told || !left {
		return
	}
	if g.parted == 0 || int32(g.lastOfAll-number) > 0 {
		g.lastOfAll = number
	}
	g.parted++
}

// goesOn reports whether all departed members have left after Finalize and took part in the
// collective with that number.
func goesOn(c *Comm, number uint32) bool {
	return c.gone.parted > 0 && c.gone.parted == c.gone.deaths && !c.revoked && int32(c.gone.lastOfAll-number) >= 0
}

// outlives reports whether a request is a collective that continues.
func (r *Request) outlives() bool {
	switch r.kind {
	case scheduleRequest:
		return goesOn(r.comm, r.schedule.number)
	case collectiveRequest:
		// advanceRequest checks whether the collective waits for a member that has left
		return goesOn(r.comm, r.comm.collSeq)
	}
	return false
}

// awaitsParted reports whether the open collective in memory waits for a member that has left: that
// member publishes nothing any more.
func awaitsParted(c *Comm) bool {
	if c.gone.parted == 0 || c.coll == nil {
		return false
	}
	for rank, proc := range c.group.Procs {
		if c.p.isDead(proc) && c.coll.WaitsFor(rank) {
			return true
		}
	}
	return false
}
