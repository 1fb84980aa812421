package membership

import (
	"fmt"
	"math"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// coordinator is the knowledge of an epoch's coordinator about each member. Only a coordinator
// declares (B22), and never a member with a lease that may still run (F5):
//
//	suspected by another member, and its lease is over          declared
//	not suspected, and silent here for Config.Link              declared
//	ended, according to this member and another one             declared at once
//	granted                                                     not declared, even if suspected
//	condemned over a link                                       not granted any more, then declared
type coordinator struct {
	record    Record // the last version; the one before is written down by a majority
	committed bool   // and so is this one
	wrote     rankset.Set
	acts      mono.Time // when the coordinators before this one have stopped acting

	peers     []peer      // by member
	reporters rankset.Set // members with a last report that was not empty
	condemned rankset.Set
	links     []complaint
}

// peer is one member, as its coordinator sees it. Times are the coordinator's.
type peer struct {
	granted mono.Time // the last answer with a lease; no earlier one can be later
	counted mono.Time // the last beat that named a fresh answer
	// the sending time of the answer that its beats name: it had promised no later coordinator then
	backed  mono.Time
	number  uint64 // of the last answer
	sent    [beatsKept]mono.Time
	report  report
	reports mono.Time // when it came
}

// newCoordinator begins an epoch. The grants of an earlier coordinator are not known, but none is
// later than acts. For the first coordinator, acts is the start, which counts as a grant to all and
// as the support of all; the first lease of a member may begin a little later, but nobody is
// suspected before another Timeout.
func newCoordinator(cfg Config, record Record, acts mono.Time) *coordinator {
	h := &coordinator{record: record, acts: acts, wrote: rankset.Of(cfg.Me), peers: make([]peer, cfg.Members)}
	for m := range h.peers {
		h.peers[m] = peer{granted: acts, counted: acts, backed: math.MinInt64 / 2}
	}
	if record.Epoch == 0 {
		for m := range h.peers {
			h.peers[m].backed = acts
		}
	}
	return h
}

func (h *coordinator) forgive(late mono.Duration) {
	for m := range h.peers {
		p := &h.peers[m]
		p.granted, p.counted, p.reports = p.granted.Add(late), p.counted.Add(late), p.reports.Add(late)
	}
	for i := range h.links {
		h.links[i].since = h.links[i].since.Add(late)
	}
}

// forget drops the reports of a dead member.
func (h *coordinator) forget(member int) {
	h.peers[member].report = report{}
	h.reporters.Remove(member)
	h.dropComplaints(member)
}

// hearBeat answers a member. A beat of another epoch is answered with this one.
func (r *Roster) hearBeat(from int, m beat) {
	h := r.coordinator
	if h == nil || m.epoch != h.record.Epoch {
		r.referTo(from, m.epoch)
		return
	}
	p := &h.peers[from]
	if m.named > 0 && m.named <= p.number && p.number-m.named < beatsKept {
		if at := p.sent[m.named%beatsKept]; r.now.Sub(at) <= r.cfg.Timeout {
			p.counted = max(p.counted, r.now)
			if m.promised <= m.epoch {
				p.backed = max(p.backed, at)
			}
		}
	}
	if m.wroteEpoch == h.record.Epoch && m.wroteVersion == h.record.version() {
		r.hearWritten(from, written{epoch: m.wroteEpoch, version: m.wroteVersion})
	} else if r.cfg.Survive && m.promised <= m.epoch {
		r.send(from, propose{record: h.record})
	}
	r.answerBeat(from, m.seq)
}

func (r *Roster) answerBeat(to int, seq uint64) {
	h := r.coordinator
	p := &h.peers[to]
	p.number++
	p.sent[p.number%beatsKept] = r.now
	leased := p.counted == r.now && h.mayGrant(r, to)
	if leased {
		p.granted = max(p.granted, r.now)
	}
	r.sendDatagram(to, grant{epoch: h.record.Epoch, seq: seq, number: p.number, lease: leased})
}

// mayGrant reports whether a member may receive a grant: not if a version that is being written
// down declares the member, nor if a link has condemned it.
func (h *coordinator) mayGrant(r *Roster, to int) bool {
	return r.mayAct() && !h.record.Dead.Has(to) && !h.condemned.Has(to)
}

// mayAct reports whether this coordinator may grant and declare. A coordinator that can be replaced
// acts only on records that a majority has written down (F12), and only while it has recent beats
// of a majority: another coordinator begins only after a majority has been silent towards this one.
func (r *Roster) mayAct() bool {
	h := r.coordinator
	return h != nil && h.committed && r.now >= h.acts && (!r.cfg.Survive || h.isSupported(r))
}

// isSupported reports whether a majority of the voters supports this coordinator. The age of a
// support counts from the sending of the answer that the voter named, not from the arrival of its
// beat: the beat may have been under way for long, and its sender may have promised to another
// coordinator meanwhile.
func (h *coordinator) isSupported(r *Roster) bool {
	near := rankset.Of(r.cfg.Me)
	for m := range h.peers {
		if r.now.Sub(h.peers[m].backed) <= r.cfg.supportFor() {
			near.Add(m)
		}
	}
	return isMajority(near, h.record.voters(r.cfg.Members))
}

// lead is all that a coordinator does after each event.
func (r *Roster) lead() {
	h := r.coordinator
	if !r.mayAct() {
		return
	}
	r.voter.quiet = r.now
	if until := r.now.Add(r.cfg.Timeout); until.Sub(r.lease.until) >= r.cfg.Period/2 && !r.cfg.needsNoLease() {
		r.renew(until)
	}
	h.condemnLinks(r)
	if r.announce() && !r.ended {
		if dead := h.findDead(r); !dead.IsEmpty() {
			r.adopt(h.record.next(dead))
			r.announce()
		}
	}
}

// announce publishes the deaths that the version that counts declares, once the leases of the dead
// are over. It reports whether no death is left to be announced. A coordinator that continues from
// the record of an earlier one has to wait: a coordinator between the two may have granted.
func (r *Roster) announce() bool {
	h := r.coordinator
	fresh := h.record.Dead.Clone()
	fresh.Subtract(r.ring.Dead())
	if !h.committed {
		return false
	}
	if fresh.IsEmpty() {
		return true
	}
	e := h.gather(r)
	for m := range fresh.All() {
		if r.now < h.fencedAt(r, m, e) {
			return false
		}
	}
	r.agreed(fresh)
	return true
}

// evidence is the evidence against members now: from reports that were repeated lately.
type evidence struct {
	silent rankset.Set // a living member finds them silent, or ended
	ended  rankset.Set // this member and another one find that their daemons have ended
}

// gather evaluates all reports once. The end of a daemon needs two witnesses; where the coordinator
// observes the daemon, or nobody else is left, the coordinator's own evidence is enough.
func (h *coordinator) gather(r *Roster) evidence {
	e := evidence{silent: r.held.silent.Clone()}
	if emitter := r.ring.Emitter(); emitter >= 0 {
		e.ended.Add(emitter)
	}
	for by := range h.reporters.All() {
		if p := &h.peers[by]; r.now.Sub(p.reports) <= r.cfg.Timeout {
			e.silent.Union(p.report.silent)
			e.silent.Union(p.report.ended)
			e.ended.Union(p.report.ended)
		}
	}
	e.ended.Intersect(r.held.ended)
	return e
}

// findDead returns the members that this coordinator can declare now.
func (h *coordinator) findDead(r *Roster) rankset.Set {
	var dead rankset.Set
	gone, e := r.ring.Dead(), h.gather(r)
	for m := range h.peers {
		if m != r.cfg.Me && !gone.Has(m) && !r.absent.Has(m) && !h.record.Dead.Has(m) && r.now >= h.deadAt(r, m, e) {
			dead.Add(m)
		}
	}
	return dead
}

// deadAt returns when a member may be declared, as things stand.
func (h *coordinator) deadAt(r *Roster, m int, e evidence) mono.Time {
	counted, fenced := h.peers[m].counted, h.fencedAt(r, m, e)
	switch {
	case h.condemned.Has(m) || e.ended.Has(m):
		return fenced
	case e.silent.Has(m):
		return max(fenced, counted.Add(r.cfg.Timeout))
	}
	return max(fenced, counted.Add(r.cfg.Link))
}

// fencedAt returns from when on nothing of a member runs, as far as a coordinator can know.
func (h *coordinator) fencedAt(r *Roster, m int, e evidence) mono.Time {
	if e.ended.Has(m) {
		return h.acts
	}
	return h.peers[m].granted.Add(r.cfg.fenceAfter())
}

// adopt requests all voters to write a version down, after this member has. The version counts once
// a majority of the voters of the version before has written it down (F12); a coordinator that
// cannot be replaced needs no votes.
func (r *Roster) adopt(record Record) {
	h := r.coordinator
	h.record, h.committed = record, false
	h.wrote = rankset.Of(r.cfg.Me)
	r.voter.record = record
	if !r.cfg.Survive {
		h.committed = true
		return
	}
	h.propose(r)
	h.countWritten(r)
}

// propose requests the voters that have not written the version down to do so. That includes
// members that the version declares, since they may live, and their votes may be needed:
//
//	Of the voters 0 1 2 4 the coordinator 0 has died, and 4 was about to declare 1, which 2 has
//	written down. 1 comes back. Without it 2 and 4 are half of the voters, without the
//	least: no version would ever count again.
func (h *coordinator) propose(r *Roster) {
	for m := range h.record.votersBefore(r.cfg.Members).All() {
		if !h.wrote.Has(m) && !r.isDead(m) {
			r.send(m, propose{record: h.record})
		}
	}
}

// repeat is for messages that were lost.
func (h *coordinator) repeat(r *Roster) {
	if !h.committed {
		h.propose(r)
	}
}

func (r *Roster) hearWritten(from int, m written) {
	h := r.coordinator
	if h != nil && m.epoch == h.record.Epoch && m.version == h.record.version() && h.wrote.Add(from) {
		h.countWritten(r)
	}
}

// countWritten makes the version count once a majority of the voters before it has written
// it down.
func (h *coordinator) countWritten(r *Roster) {
	if isMajority(h.wrote, h.record.votersBefore(r.cfg.Members)) {
		h.committed = true
	}
}

// deadline returns when a coordinator next may have something to decide.
func (h *coordinator) deadline(r *Roster) mono.Time {
	next := mono.Time(math.MaxInt64)
	if h.acts > r.now {
		next = h.acts
	}
	gone, e := r.ring.Dead(), h.gather(r)
	for m := range h.peers {
		if m == r.cfg.Me || gone.Has(m) || r.absent.Has(m) {
			continue
		}
		at := h.fencedAt(r, m, e)
		if !h.record.Dead.Has(m) {
			at = h.deadAt(r, m, e)
		}
		if at > r.now {
			next = min(next, at)
		}
	}
	return next
}

func (h *coordinator) describe(r *Roster) string {
	text := ", coordinator"
	if !h.committed {
		text += fmt.Sprintf(", %v wrote it down", h.wrote)
	} else if !r.mayAct() {
		text += ", may not act"
	}
	if !h.condemned.IsEmpty() {
		text += fmt.Sprintf(", condemned %v", h.condemned)
	}
	return text
}
