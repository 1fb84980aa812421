package redundancy

import "github.com/goulfm/goulfm/internal/base/rankset"

// Holdings lists the data of one version at each process. Owners are ranks of the world that made
// the version; processes are ranks of the world that continues from it. The two differ after a
// shrink, or if a process can read the data that a dead neighbour left.
type Holdings struct {
	Data   []rankset.Set // Data[q]: owners of the parts that process q has
	Parity []rankset.Set // Parity[q]: owners of the shares of parity that process q has
}

// NewHoldings returns the holdings of n processes that have nothing.
func NewHoldings(n int) Holdings {
	return Holdings{Data: make([]rankset.Set, n), Parity: make([]rankset.Set, n)}
}

// Step is a part of a plan: Send, Rebuild or Encode. Every process computes the whole plan and
// executes its own part of each step.
type Step interface{ isStep() }

// Send moves Owner's whole part.
type Send struct{ Owner, From, To int }

// Rebuild computes Owner's part again at process To: of each stripe of the group in which
// Owner has data, To needs any Parts() pieces.
type Rebuild struct {
	Owner, To int
	Group     Group
	Data      []Source // the parts of members that are there
	Parity    []Source // the shares of parity that are there
}

// Source means that process From has the data of Owner.
type Source struct{ Owner, From int }

// Encode computes rank To's share of the parity of its group: for each stripe in which To has
// parity, all members with data in the stripe send their pieces.
type Encode struct {
	To    int
	Group Group
}

func (Send) isStep()    {}
func (Rebuild) isStep() {}
func (Encode) isStep()  {}

// Restore plans the transfer of each part of a version to the process that takes it over, server[o]
// for owner o. The layout is that of the world that made the version. Restore returns false if some
// part cannot be restored.
func Restore(l Layout, have Holdings, server []int) ([]Step, bool) {
	p := &planner{have: have, server: server, sends: make([]int, len(have.Data)), whole: true}
	l.restore(p)
	if !p.whole {
		return nil, false
	}
	return p.steps, true
}

// planner collects a plan.
type planner struct {
	have   Holdings
	server []int
	sends  []int // by each process, in the plan so far
	steps  []Step
	whole  bool // no part was missing so far
}

func (m Mirror) restore(p *planner) {
	for o := range m.nodes {
		p.whole = p.send(o) && p.whole
	}
}

func (c Code) restore(p *planner) {
	for o := range c.nodes {
		p.whole = (p.send(o) || p.rebuild(o, c.groups[c.of[o]])) && p.whole
	}
}

// send plans a copy from the process that has sent the least so far, if any process has the part.
func (p *planner) send(owner int) bool {
	to := p.server[owner]
	if p.have.Data[to].Has(owner) {
		return true
	}
	from := p.holder(p.have.Data, owner)
	if from < 0 {
		return false
	}
	p.sends[from]++
	p.steps = append(p.steps, Send{Owner: owner, From: from, To: to})
	return true
}

// rebuild plans the decoding of a part that no process has any more.
func (p *planner) rebuild(owner int, g Group) bool {
	r := Rebuild{Owner: owner, To: p.server[owner], Group: g}
	var data, parity rankset.Set
	for _, m := range g.Members {
		if from := p.holder(p.have.Data, m); from >= 0 {
			r.Data = append(r.Data, Source{m, from})
			data.Add(m)
		}
		if from := p.holder(p.have.Parity, m); from >= 0 {
			r.Parity = append(r.Parity, Source{m, from})
			parity.Add(m)
		}
	}
	for s := range g.Stripes() {
		st := g.Stripe(s)
		if rankset.Of(st.Data...).Has(owner) && common(st.Data, data)+common(st.Parity, parity) < g.Parts() {
			return false
		}
	}
	p.steps = append(p.steps, r)
	return true
}

// holder returns the process that sends the least among the processes that have owner's data; -1
// if there is none.
func (p *planner) holder(of []rankset.Set, owner int) int {
	best := -1
	for q := range of {
		if of[q].Has(owner) && (best < 0 || p.sends[q] < p.sends[best]) {
			best = q
		}
	}
	return best
}

// common returns the number of the ranks that are in s.
func common(ranks []int, s rankset.Set) int {
	n := 0
	for _, r := range ranks {
		if s.Has(r) {
			n++
		}
	}
	return n
}

// Servers proposes the process that takes over each part of a version of size parts, in a world of
// len(have.Data) processes. In a world of the same size that is the rank itself, whose program
// needs the part. In a world of another size it is a process that has the part, otherwise any
// process; among these, the one with the fewest parts. The program redistributes the elements
// afterwards.
func Servers(have Holdings, size int) []int {
	n := len(have.Data)
	server := make([]int, size)
	load := make([]int, n)
	for o := range server {
		server[o] = o
		if n != size {
			server[o] = leastLoaded(have, o, load)
			load[server[o]]++
		}
	}
	return server
}

func leastLoaded(have Holdings, owner int, load []int) int {
	best, holds := 0, have.Data[0].Has(owner)
	for q := 1; q < len(load); q++ {
		has := have.Data[q].Has(owner)
		if has && !holds || has == holds && load[q] < load[best] {
			best, holds = q, has
		}
	}
	return best
}
