package membership

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A complaint records that processes of one living node cannot reach those of another one. The
// coordinator keeps it from the first report that includes it to the first that does not.
type complaint struct {
	by, of int
	since  mono.Time
}

// tellCoordinator reports this member's evidence against others when it changes.
func (r *Roster) tellCoordinator() {
	held := r.heldNow()
	if held.equal(r.sent) {
		return
	}
	if held.isEmpty() && r.sent.isEmpty() {
		r.sent = held // another epoch, nothing to report
		return
	}
	r.sendReport(held)
}

func (r *Roster) heldNow() report {
	return report{
		epoch: r.voter.follows, silent: r.held.silent.Clone(),
		ended: r.held.ended.Clone(), unreachable: r.held.unreachable.Clone(),
	}
}

func (r *Roster) sendReport(held report) {
	r.sent = held
	coordinator := r.coordinatorMember()
	switch {
	case coordinator == r.cfg.Me:
		if r.coordinator != nil {
			r.coordinator.hear(r, coordinator, held)
		}
	case !r.isDead(coordinator):
		r.send(coordinator, held)
	}
}

func (r *Roster) hearReport(from int, m report) {
	if r.coordinator != nil && m.epoch == r.coordinator.record.Epoch {
		r.coordinator.hear(r, from, m)
	}
}

// hear replaces the report of a member.
func (h *coordinator) hear(r *Roster, from int, m report) {
	moot := r.ring.Dead()
	moot.Add(from)
	m.silent.Subtract(moot)
	m.ended.Subtract(moot)
	m.unreachable.Subtract(moot)
	h.peers[from].report, h.peers[from].reports = m, r.now
	if m.isEmpty() {
		h.reporters.Remove(from)
	} else {
		h.reporters.Add(from)
	}
	h.links = slices.DeleteFunc(h.links, func(c complaint) bool { return c.by == from && !m.unreachable.Has(c.of) })
	for of := range m.unreachable.All() {
		known := slices.ContainsFunc(h.links, func(c complaint) bool { return c.by == from && c.of == of })
		if !known {
			h.links = append(h.links, complaint{by: from, of: of, since: r.now})
		}
	}
}

func (h *coordinator) dropComplaints(member int) {
	h.links = slices.DeleteFunc(h.links, func(c complaint) bool { return c.by == member || c.of == member })
}

// condemnLinks ends a pair of living nodes that have both complained of each other for Config.Link:
// one of the two receives no more grants, and is declared when its lease is over. The coordinator
// chooses the node with more complaints against it, of equals the one with the higher number; if
// one of them is condemned already, that one.
//
// The complaint of one node alone condemns nobody. A process that stands still answers no dial, nor
// does it dial: its peer complains, and both nodes may live.
func (h *coordinator) condemnLinks(r *Roster) {
	for _, c := range h.links {
		if !h.holdsForLong(r, c.by, c.of) || !h.holdsForLong(r, c.of, c.by) || h.condemned.Has(c.by) || h.condemned.Has(c.of) {
			continue
		}
		if worse := h.worseOf(c.by, c.of); worse != r.cfg.Me {
			h.condemned.Add(worse)
		}
	}
}

// holdsForLong reports whether a member has complained of another one for Config.Link, and does so
// still.
func (h *coordinator) holdsForLong(r *Roster, by, of int) bool {
	if by != r.cfg.Me && r.now.Sub(h.peers[by].reports) > r.cfg.Timeout {
		return false
	}
	return slices.ContainsFunc(h.links, func(c complaint) bool {
		return c.by == by && c.of == of && r.now >= c.since.Add(r.cfg.Link)
	})
}

func (h *coordinator) worseOf(a, b int) int {
	of := func(member int) int {
		var by rankset.Set
		for _, c := range h.links {
			if c.of == member {
				by.Add(c.by)
			}
		}
		return by.Len()
	}
	a, b = min(a, b), max(a, b)
	if of(a) > of(b) {
		return a
	}
	return b
}
