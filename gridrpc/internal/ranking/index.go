package ranking

import (
	"cmp"
	"slices"
)

// index holds the reports of all children in a form for decisions. The first decision after a
// change builds it, because there are many decisions and few changes.
type index struct {
	all      []*slot // in the order of arrival
	services map[string]*offers
}

// slot is the offer of one service by one server.
type slot struct {
	latest *Estimate
	copies []*Estimate // the reports of all children, latest included; several while the server moves between children
}

// offers are the offers of one service.
type offers struct {
	slots []*slot
	usual float64 // rate of an average server
}

// offer names a slot.
type offer struct{ service, server string }

// look returns the index of the present reports.
func (t *Table) look() *index {
	if t.index != nil {
		return t.index
	}
	x := &index{services: map[string]*offers{}}
	slots := map[offer]*slot{}
	for _, c := range t.children {
		for i := range c.list {
			e := &c.list[i]
			s := slots[offer{e.Service, e.Server.Name}]
			if s == nil {
				s = &slot{latest: e}
				slots[offer{e.Service, e.Server.Name}] = s
				x.add(s)
			}
			s.copies = append(s.copies, e)
			if s.latest.older(e) {
				s.latest = e
			}
		}
	}
	for _, s := range x.all { // not over the map of services, which has no order
		if o := x.services[s.latest.Service]; o.usual == 0 {
			o.usual = medianRate(o.slots, nil)
		}
	}
	t.index = x
	return x
}

func (x *index) add(s *slot) {
	x.all = append(x.all, s)
	o := x.services[s.latest.Service]
	if o == nil {
		o = &offers{}
		x.services[s.latest.Service] = o
	}
	o.slots = append(o.slots, s)
}

// place is a candidate and its sort keys.
type place struct {
	e    *Estimate
	full int
	done float64 // seconds from now
}

// compare orders places by free places, then by the metric of the service, then by completion,
// which decides without a metric. Equal places are ordered by name, so that all agents have the
// same order.
func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.full, o.full), cmp.Compare(p.e.Metric, o.e.Metric), cmp.Compare(p.done, o.done), cmp.Compare(p.e.Server.Name, o.e.Server.Name))
}

// best returns at most CandidatesMax places, the best first.
func (o *offers) best(r Request) []place {
	usual := o.usual
	if len(r.Exclude) > 0 {
		usual = medianRate(o.slots, r.Exclude)
	}
	best := make([]place, 0, CandidatesMax+1)
	for _, s := range o.slots {
		e := s.latest
		if len(r.Exclude) > 0 && slices.Contains(r.Exclude, e.Server) {
			continue
		}
		p := place{e, full(e), e.completion(r, usual)}
		at := len(best)
		for at > 0 && p.compare(best[at-1]) < 0 {
			at--
		}
		if at < CandidatesMax {
			best = slices.Insert(best, at, p)
			best = best[:min(len(best), CandidatesMax)]
		}
	}
	return best
}

// medianRate returns the median of the known rates of servers that are not excluded, or 0.
func medianRate(slots []*slot, exclude []Server) float64 {
	var rates []float64
	for _, s := range slots {
		if s.latest.Rate > 0 && !slices.Contains(exclude, s.latest.Server) {
			rates = append(rates, s.latest.Rate)
		}
	}
	if len(rates) == 0 {
		return 0
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}
