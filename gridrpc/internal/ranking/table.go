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

// Estimate is the report of a server about one of its services.
type Estimate struct {
	Server    Server
	Addr      string
	Host      string // its machine
	Service   string
	Number    uint64  // grows with each report of the server
	Wait      float64 // seconds until a call would begin
	Rate      float64 // units of work per second; 0: unknown
	Bandwidth float64 // bytes per second to the server; 0: unknown
	Metric    float64 // defined by the service: lower is better
	Free      int     // calls that the server would accept
	Said      mono.Time
	booked    float64 // seconds of work assigned since then
}

// Request describes the needs of a call.
type Request struct {
	Service string
	Work    float64  // in units of the service
	Bytes   float64  // of its argument
	Saved   float64  // bytes of the checkpoint from which it continues
	Holders []string // the known hosts with this checkpoint
	Exclude []Server
}

// CandidatesMax bounds the number of servers in an answer.
const CandidatesMax = 4

// child holds the estimates of the subtree of a child.
type child struct {
	id   uint64
	list []Estimate
}

// Table holds the latest report of each child, in the order of their first reports.
type Table struct {
	children []child
	Changed  mono.Time // when a child or a service last appeared or disappeared
	index    *index    // nil: the children have changed since the last decision
}

// Report replaces the earlier report of a child.
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

// keepBooking keeps the booked work if the estimate is the same report of the server as before. An
// agent in between repeats that report when another server reports, usually at the same place in
// the list.
func (e *Estimate) keepBooking(before []Estimate, place int) {
	if place >= len(before) || !sameOffer(*e, before[place]) {
		place = slices.IndexFunc(before, func(o Estimate) bool { return sameOffer(*e, o) })
	}
	if place >= 0 && e.Number == before[place].Number {
		e.booked, e.Free = before[place].booked, before[place].Free
	}
}

func sameOffer(a, b Estimate) bool { return a.Server == b.Server && a.Service == b.Service }

// Drop removes a child.
func (t *Table) Drop(id uint64, now mono.Time) {
	n := len(t.children)
	t.children = slices.DeleteFunc(t.children, func(c child) bool { return c.id == id })
	if len(t.children) != n {
		t.Changed, t.index = now, nil
	}
}

// Estimates returns the estimates for a service, or for all services if service is "". A server
// that two children report, because it moves between them, is listed once, with its latest report.
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

// older reports whether e is of an older incarnation than o, or an earlier report of the same one.
func (e *Estimate) older(o *Estimate) bool {
	return cmp.Or(cmp.Compare(e.Server.Incarnation, o.Server.Incarnation), cmp.Compare(e.Said, o.Said)) < 0
}

// Best returns the best servers for a request, the best first, and whether any server offers the
// service. Servers without a free place come last: a place may become free in time.
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

// completion returns the time until a call would be complete at the server, in seconds.
func (e *Estimate) completion(r Request, usual float64) float64 {
	return e.Wait + e.booked + e.missing(r)/cmp.Or(e.Bandwidth, usualBandwidth) + e.duration(r, usual)
}

// usualBandwidth is the assumed bandwidth if none is known, in bytes per second: that of a network
// with 1 Gbit/s.
const usualBandwidth = 125e6

// missing returns the number of bytes of a call that are not at the server yet.
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

// unknownTakes is the booked time of a call if no rate is known, in seconds.
const unknownTakes = 1e-3

// Wait returns the time that a call would wait at a server, in seconds. The arguments are the
// number of places, the number of calls there, and the duration of a body, 0 if unknown. On average
// a running body is half done.
func Wait(places, taken int, each float64) float64 {
	if taken < places {
		return 0
	}
	return (float64(taken-places) + 0.5) / float64(places) * max(each, unknownTakes)
}

// Book records that a call was assigned to a server. Until the next report of the server, it counts
// as busy for the duration of the call, and has one free place less. So simultaneous clients are
// not all sent to one server.
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
