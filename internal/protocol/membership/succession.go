package membership

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// voter is the state of a member in the choice of coordinators and the writing of versions.
//
// Epoch e has one possible coordinator, Config.coordinatorOf(e); the launcher's is 0. A member that
// has promised e writes nothing down for a coordinator of an earlier epoch and supports none, for
// ever. Two majorities have a member in common, and that member has promised before the later
// coordinator began; the later coordinator therefore learns all that a majority has written down
// for the earlier one, and the earlier coordinator can have nothing more written down by a majority
// (I20):
//
//	old coordinator     common voter           new coordinator
//	  │── v ───────────────▶│ writes v             │
//	  │                     │── support e, with v ▶│  continues from v
//	  │── v+1 ─────────────▶│ silence              │
//
// Before it promises, a member asks the others whether they, too, have no coordinator. A member
// with a faulty link of its own gets no majority of yes, promises nothing, and takes part again
// when its link is repaired.
type voter struct {
	promised uint32
	// this member beats to the coordinator of that epoch: promised, or an earlier one that another
	// member has named
	follows  uint32
	record   Record    // the newest that was written down here
	quiet    mono.Time // when this member last had a coordinator
	supports bool      // promised, and not granted anything by that coordinator yet
	known    uint32    // the latest epoch that is known to have a coordinator
	target   uint32    // the epoch that is asked for
	yes      rankset.Set
	// The records in supports of epoch candidate, by member. The map is only ever read by index.
	candidate    uint32
	coordinators map[int]Record
}

// isQuiet reports whether this member has no coordinator: nothing was granted for Timeout +
// Confirm, or its daemon is known to have ended.
func (r *Roster) isQuiet() bool {
	coordinator := r.coordinatorMember()
	if coordinator != r.cfg.Me && (r.isDead(coordinator) || r.held.ended.Has(coordinator)) {
		return true
	}
	return r.now >= r.voter.quiet.Add(r.cfg.Timeout+r.cfg.Confirm)
}

// seekCoordinator runs each Period: it canvasses the others for the next epoch, or repeats the
// support for the coordinator of the promised one.
func (r *Roster) seekCoordinator() {
	v := &r.voter
	if v.supports {
		r.sendSupport()
	}
	if !r.isQuiet() {
		return
	}
	if v.target <= v.promised || !r.isEligible(v.target) {
		r.ask(r.nextEpoch(v.promised))
	}
	for m := range r.voters().All() {
		if m != r.cfg.Me {
			r.send(m, canvass{epoch: v.target})
		}
	}
	r.countYes()
}

// voters returns the members that can be canvassed: neither declared nor, according to the record
// here, about to be.
func (r *Roster) voters() rankset.Set {
	all := r.voter.record.voters(r.cfg.Members)
	all.Subtract(r.ring.Dead())
	return all
}

func (r *Roster) isEligible(epoch uint32) bool {
	coordinator := r.cfg.coordinatorOf(epoch)
	return r.voters().Has(coordinator) && !r.held.ended.Has(coordinator)
}

// nextEpoch returns the first epoch after the given one with a coordinator that is not known to be
// dead.
func (r *Roster) nextEpoch(epoch uint32) uint32 {
	for range r.cfg.Members {
		if epoch++; r.isEligible(epoch) {
			break
		}
	}
	return epoch
}

func (r *Roster) ask(epoch uint32) {
	r.voter.target = epoch
	r.voter.yes = rankset.Of(r.cfg.Me)
}

// hearCanvass answers yes if this member has no coordinator either, and asks for the later of the
// two epochs itself. Otherwise it answers with the epoch that it follows.
func (r *Roster) hearCanvass(from int, m canvass) {
	v := &r.voter
	yes := r.isQuiet() && m.epoch >= v.promised
	if yes && m.epoch > v.promised && m.epoch > v.target {
		r.ask(m.epoch)
	}
	whom := v.follows
	if r.isQuiet() {
		whom = v.promised
	}
	r.send(from, canvassed{epoch: m.epoch, yes: yes, promised: whom})
}

// referTo reports the current epoch to a member that sends beats here.
func (r *Roster) referTo(from int, epoch uint32) {
	if r.voter.follows > epoch {
		r.send(from, canvassed{epoch: epoch, promised: r.voter.follows})
	}
}

func (r *Roster) hearCanvassed(from int, m canvassed) {
	v := &r.voter
	if !r.isQuiet() {
		return
	}
	switch {
	case m.yes && m.epoch == v.target:
		v.yes.Add(from)
		r.countYes()
	case !m.yes && m.promised > v.promised:
		r.promise(m.promised)
	case !m.yes && m.promised < v.promised && m.promised != v.follows:
		r.follow(m.promised)
	}
}

// follow asks the coordinator of an earlier epoch than the promised one for its lease, and no more:
// that coordinator gets no support and no written record from this member. A coordinator that acts
// has the support of others, and the lease of this node rests on that.
//
//	All have no coordinator for a moment. 0 canvasses for epoch 2, all answer yes, and most of them
//	promise 1 meanwhile. 0 has promised 2, alone: without follow it would stand still until
//	it is declared.
func (r *Roster) follow(epoch uint32) {
	v := &r.voter
	v.follows, v.quiet, v.supports = epoch, r.now, false
	r.lease.named = 0
}

func (r *Roster) countYes() {
	v := &r.voter
	if v.target > v.promised && isMajority(v.yes, v.record.voters(r.cfg.Members)) {
		r.promise(v.target)
	}
}

// promise gives this member's vote to the coordinator of an epoch, and to nobody of an earlier one
// any more.
func (r *Roster) promise(epoch uint32) {
	v := &r.voter
	v.promised, v.follows, v.quiet, v.supports = epoch, epoch, r.now, true
	r.lease.named = 0
	if r.coordinator != nil && r.coordinator.record.Epoch < epoch {
		r.coordinator = nil
	}
	r.sendSupport()
}

func (r *Roster) sendSupport() {
	v := &r.voter
	coordinator := r.coordinatorMember()
	if coordinator == r.cfg.Me {
		r.countSupport(coordinator, v.promised, v.record)
		return
	}
	if !r.isDead(coordinator) {
		r.send(coordinator, support{epoch: v.promised, record: v.record})
	}
}

func (r *Roster) hearSupport(from int, m support) {
	if r.cfg.coordinatorOf(m.epoch) == r.cfg.Me {
		r.countSupport(from, m.epoch, m.record)
	}
}

// countSupport gathers the supports of one epoch, the latest. With those of a majority this member
// is the coordinator, and continues from the newest record that any of them has. As long as this
// member has a coordinator itself it is not counted: a stray support must not unseat a coordinator
// that others have.
func (r *Roster) countSupport(from int, epoch uint32, record Record) {
	v := &r.voter
	if epoch < v.promised || r.coordinator != nil && r.coordinator.record.Epoch >= epoch {
		return
	}
	if v.coordinators == nil || epoch > v.candidate {
		v.candidate, v.coordinators = epoch, map[int]Record{}
	}
	if epoch < v.candidate {
		return
	}
	v.coordinators[from] = record
	newest, by := v.record, rankset.Set{}
	if r.isQuiet() || v.promised == epoch {
		by.Add(r.cfg.Me)
	}
	for m := range r.cfg.Members {
		if known, ok := v.coordinators[m]; ok {
			by.Add(m)
			if known.newer(newest) {
				newest = known
			}
		}
	}
	if isMajority(by, newest.voters(r.cfg.Members)) && !newest.Dead.Has(r.cfg.Me) {
		r.takeOver(epoch, newest)
	}
}

// noteCoordinator reports a coordinator, once: a coordinator that takes over, or that another
// member first hears of by a version to write down or, where that member has promised a later
// epoch, by a lease.
func (r *Roster) noteCoordinator(member int, epoch uint32) {
	if epoch > r.voter.known {
		r.voter.known = epoch
		r.act(Coordinator{Member: member, Epoch: epoch})
	}
}

// takeOver makes this member the coordinator. The coordinator before may still grant as long as the
// last answers count that its voters named before they promised. The new coordinator therefore
// waits that long before it acts.
func (r *Roster) takeOver(epoch uint32, newest Record) {
	v := &r.voter
	v.promised, v.follows, v.quiet, v.supports, v.coordinators = epoch, epoch, r.now, false, nil
	r.lease.named = 0
	r.coordinator = newCoordinator(r.cfg, newest.under(epoch, r.ring.Dead()), r.now.Add(r.cfg.actAfter()))
	r.noteCoordinator(r.cfg.Me, epoch)
	r.adopt(r.coordinator.record)
}

// hearPropose writes a version down, unless a later coordinator was promised to.
func (r *Roster) hearPropose(from int, record Record) {
	v := &r.voter
	if record.Epoch < v.promised || r.cfg.coordinatorOf(record.Epoch) != from {
		r.referTo(from, record.Epoch)
		return
	}
	if record.Epoch > v.promised {
		r.promise(record.Epoch)
	}
	if record.Epoch > v.follows {
		r.follow(record.Epoch)
	}
	r.noteCoordinator(from, record.Epoch)
	if record.newer(v.record) {
		v.record = record
	}
	r.send(from, written{epoch: record.Epoch, version: record.version()})
}
