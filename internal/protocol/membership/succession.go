package membership

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// voter is what a member holds as one of those who choose heads and write versions down.
//
// Epoch e has one possible head, Config.headOf(e); the launcher's is 0. A member that has
// promised e writes nothing down for a head of an earlier epoch and supports none, for ever.
// Two majorities have a member in common, and that member has promised before the later head
// began; so what the earlier head had written down by a majority the later one learns, and
// what it had not it never will (I20):
//
//	old head            common voter           new head
//	  │── v ───────────────▶│ writes v             │
//	  │                     │── support e, with v ▶│  goes on from v
//	  │── v+1 ─────────────▶│ silence              │
//
// Before it promises, a member asks the others whether they, too, have no head. A member
// whose own link is the trouble gets no majority of yes, promises nothing, and is heard
// again when its link is mended.
type voter struct {
	promised uint32
	follows  uint32    // whose head this member beats to: promised, or an earlier one that acts
	record   Record    // the newest that was written down here
	quiet    mono.Time // when this member last had a head
	supports bool      // promised, and not granted anything by that head yet
	known    uint32    // the latest epoch that is known to have a head
	target   uint32    // the epoch that is asked for
	yes      rankset.Set
	// What supports of epoch candidate carried, by member. It is only ever read by index.
	candidate uint32
	heads     map[int]Record
}

// isQuiet says whether this member has no head: nothing was granted for Timeout + Confirm,
// or its daemon is known to have ended.
func (r *Roster) isQuiet() bool {
	head := r.headMember()
	if head != r.cfg.Me && (r.isDead(head) || r.held.ended.Has(head)) {
		return true
	}
	return r.now >= r.voter.quiet.Add(r.cfg.Timeout+r.cfg.Confirm)
}

// seekHead is done each Period: ask the others for the next epoch, or tell the head of the
// promised one again.
func (r *Roster) seekHead() {
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

// voters returns who can be asked: those who are neither declared nor, as far as is written
// down here, about to be.
func (r *Roster) voters() rankset.Set {
	all := r.voter.record.voters(r.cfg.Members)
	all.Subtract(r.ring.Dead())
	return all
}

func (r *Roster) isEligible(epoch uint32) bool {
	head := r.cfg.headOf(epoch)
	return r.voters().Has(head) && !r.held.ended.Has(head)
}

// nextEpoch returns the first one after epoch whose head is not known to be dead.
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

// hearCanvass says yes if this member has no head either, and asks for the later of the two
// epochs itself. Else it says whose head it follows.
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

// referTo tells a member that sends beats here which epoch there is.
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

// follow asks the head of an earlier epoch than the promised one for its lease, and no more:
// it gets no support and nothing written down by this member. A head that acts has the
// support of others, and the lease of this node rests on that.
//
//	All have no head for a moment. 0 asks who would support epoch 2, all say yes, and most of
//	them promise 1 meanwhile. 0 has promised 2, alone: without this it would stand still
//	until it is declared.
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

// promise gives this member's vote to the head of an epoch, and to nobody of an earlier one
// any more.
func (r *Roster) promise(epoch uint32) {
	v := &r.voter
	v.promised, v.follows, v.quiet, v.supports = epoch, epoch, r.now, true
	r.lease.named = 0
	if r.head != nil && r.head.record.Epoch < epoch {
		r.head = nil
	}
	r.sendSupport()
}

func (r *Roster) sendSupport() {
	v := &r.voter
	head := r.headMember()
	if head == r.cfg.Me {
		r.countSupport(head, v.promised, v.record)
		return
	}
	if !r.isDead(head) {
		r.send(head, support{epoch: v.promised, record: v.record})
	}
}

func (r *Roster) hearSupport(from int, m support) {
	if r.cfg.headOf(m.epoch) == r.cfg.Me {
		r.countSupport(from, m.epoch, m.record)
	}
}

// countSupport gathers the supports of one epoch, the latest. With those of a majority this
// member is head, and goes on from the newest record that any of them has. As long as it has a
// head itself it is not one of them: a stray support must not unseat a head that others have.
func (r *Roster) countSupport(from int, epoch uint32, record Record) {
	v := &r.voter
	if epoch < v.promised || r.head != nil && r.head.record.Epoch >= epoch {
		return
	}
	if v.heads == nil || epoch > v.candidate {
		v.candidate, v.heads = epoch, map[int]Record{}
	}
	if epoch < v.candidate {
		return
	}
	v.heads[from] = record
	newest, by := v.record, rankset.Set{}
	if r.isQuiet() || v.promised == epoch {
		by.Add(r.cfg.Me)
	}
	for m := range r.cfg.Members {
		if known, ok := v.heads[m]; ok {
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

// noteHead tells of a head, once.
func (r *Roster) noteHead(member int, epoch uint32) {
	if epoch > r.voter.known {
		r.voter.known = epoch
		r.act(Head{Member: member, Epoch: epoch})
	}
}

// takeOver makes this member head. The head before may still grant for as long as the last
// answers count there that its voters named before they promised; so this one waits that long
// before it acts.
func (r *Roster) takeOver(epoch uint32, newest Record) {
	v := &r.voter
	v.promised, v.follows, v.quiet, v.supports, v.heads = epoch, epoch, r.now, false, nil
	r.lease.named = 0
	r.head = newHead(r.cfg, newest.under(epoch, r.ring.Dead()), r.now.Add(r.cfg.actAfter()))
	r.noteHead(r.cfg.Me, epoch)
	r.adopt(r.head.record)
}

// hearPropose writes a version down, unless a later head was promised to.
func (r *Roster) hearPropose(from int, record Record) {
	v := &r.voter
	if record.Epoch < v.promised || r.cfg.headOf(record.Epoch) != from {
		r.referTo(from, record.Epoch)
		return
	}
	if record.Epoch > v.promised {
		r.promise(record.Epoch)
	}
	if record.Epoch > v.follows {
		r.follow(record.Epoch)
	}
	r.noteHead(from, record.Epoch)
	if record.newer(v.record) {
		v.record = record
	}
	r.send(from, written{epoch: record.Epoch, version: record.version()})
}
