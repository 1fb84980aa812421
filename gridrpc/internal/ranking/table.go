package ranking

import (
	"cmp"
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// Server names one incarnation of a server.
type Server struct {
	Name        string
	Incarnation uint64
}

// Estimate is what a server has said of one of its services.
type Estimate struct {
	Server    Server
	Addr      string
	Host      string // its machine
	Service   string
	Number    uint64  // grows with each thing that the server says
	Wait      float64 // seconds until a call would begin
	Rate      float64 // units of work a second; 0 is not known
	Bandwidth float64 // bytes a second to it; 0 is not known
	Metric    float64 // of the service's own: a lower one is better
	Free      int     // calls that it would take
	Said      mono.Time
	booked    float64 // seconds of work promised since then
}

// Request is what a call needs.
type Request struct {
	Service string
	Work    float64  // in units of the service
	Bytes   float64  // of its argument
	Saved   float64  // bytes of the checkpoint that it goes on from
	Holders []string // hosts that have this checkpoint, as far as is known
	Exclude []Server
}

// CandidatesMax is how many servers an answer names.
const CandidatesMax = 4

// child is what an agent knows of the subtree of a child.
type child struct {
	id   uint64
	list []Estimate
}

// Table is what an agent knows: the latest report of each child, in the order in which they
// came.
type Table struct {
	children []child
	Changed  mono.Time // when a child or a service last came or went
	index    *index    // nil: the children have changed since it was made
}

// Report replaces what a child has said before.
func (t *Table) Report(id uint64, list []Estimate, now mono.Time) {
	i := slices.IndexFunc(t.children, func(c child) bool { return c.id == id })
	if i < 0 {
		t.children = append(t.children, child{id: id})
		i = len(t.children) - 1
	}
	if !slices.EqualFunc(t.children[i].list, list, sameOffer) {
		t.Changed = now
	}
	for j := range list {
		list[j].keepBooking(t.children[i].list, j)
	}
	t.children[i].list, t.index = list, nil
}

// keepBooking goes on with what was promised since the server has said this: an agent between
// repeats it whenever another server says something, mostly at the same place.
func (e *Estimate) keepBooking(before []Estimate, place int) {
	if place >= len(before) || !sameOffer(*e, before[place]) {
		place = slices.IndexFunc(before, func(o Estimate) bool { return sameOffer(*e, o) })
	}
	if place >= 0 && e.Number == before[place].Number {
		e.booked, e.Free = before[place].booked, before[place].Free
	}
}

func sameOffer(a, b Estimate) bool { return a.Server == b.Server && a.Service == b.Service }

// Drop forgets a child.
func (t *Table) Drop(id uint64, now mono.Time) {
	n := len(t.children)
	t.children = slices.DeleteFunc(t.children, func(c child) bool { return c.id == id })
	if len(t.children) != n {
		t.Changed, t.index = now, nil
	}
}

// Estimates returns what is known of a service; of all if service is "". One server that two
// children report, because it moves from one to the other, is in it once, with what it said
// last.
func (t *Table) Estimates(service string) []Estimate {
	x := t.look()
	slots := x.all
	if service != "" {
		slots = nil
		if o := x.services[service]; o != nil {
			slots = o.slots
		}
	}
	all := make([]Estimate, 0, len(slots))
	for _, s := range slots {
		all = append(all, *s.latest)
	}
	return all
}

// older says whether e is of an older incarnation than o, or was said before it.
func (e *Estimate) older(o *Estimate) bool {
	return cmp.Or(cmp.Compare(e.Server.Incarnation, o.Server.Incarnation), cmp.Compare(e.Said, o.Said)) < 0
}

// Best returns the servers that are best for a request, the best first, and whether anybody
// offers the service at all. Who has no place comes last: a place may be free by the time.
func (t *Table) Best(r Request) (best []Estimate, known bool) {
	o := t.look().services[r.Service]
	if o == nil {
		return nil, false
	}
	for _, p := range o.best(r) {
		best = append(best, *p.e)
	}
	return best, true
}

func full(e *Estimate) int {
	if e.Free > 0 {
		return 0
	}
	return 1
}

// completion is when a call would be done at the server, in seconds from now.
func (e *Estimate) completion(r Request, usual float64) float64 {
	return e.Wait + e.booked + e.missing(r)/cmp.Or(e.Bandwidth, usualBandwidth) + e.duration(r, usual)
}

// usualBandwidth is that of a server of which nobody knows it, in bytes a second: of a network of 1
// Gbit/s.
const usualBandwidth = 125e6

// missing is how many bytes of a call are not at the server yet.
func (e *Estimate) missing(r Request) float64 {
	if r.Saved > 0 && slices.Contains(r.Holders, e.Host) {
		return r.Bytes
	}
	return r.Bytes + r.Saved
}

func (e *Estimate) duration(r Request, usual float64) float64 {
	rate := e.Rate
	if rate == 0 {
		rate = usual
	}
	if rate == 0 {
		return 0
	}
	return r.Work / rate
}

// unknownTakes is what a call is booked for if no rate is known, in seconds.
const unknownTakes = 1e-3

// Wait returns how long a call would wait at a server, in seconds, of which so many calls have
// taken places, and a body takes so long: 0 is not known. On average a body that runs is half done.
func Wait(places, taken int, each float64) float64 {
	if taken < places {
		return 0
	}
	return (float64(taken-places) + 0.5) / float64(places) * max(each, unknownTakes)
}

// Book notes that a call was promised to a server: until its next report it is taken to be
// busy for as long as the call takes, and to have a place less. So the clients of the same
// moment are not all sent to one server.
func (t *Table) Book(r Request, to Server) {
	o := t.look().services[r.Service]
	if o == nil {
		return
	}
	for _, s := range o.slots {
		if s.latest.Server.Name != to.Name {
			continue
		}
		for _, e := range s.copies {
			if e.Server == to {
				e.booked += max(e.duration(r, o.usual), unknownTakes)
				e.Free = max(0, e.Free-1)
			}
		}
	}
}
