package nodes

import (
	"errors"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/membership"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
	"github.com/goulfm/goulfm/ulfm"
)

// nodeChecker sees all that happens, on all nodes at once.
//
//	I1   those who live never differ in a decision; on a node of which a member lives nor do
//	     those who have died there, where it decides in its memory
//	I2   every call of those who live ends once the faults are over; a job that cannot go on ends
//	I3   every living member's contribution is in a decision, and nothing else
//	I4   a call is answered exactly once
//	I5   each death is known to all survivors in the end
//	I6   who is dead for somebody has ended, or its node was declared
//	I7   only the coordinator declares; no agreement leaves out a member that runs
//	I8   what is revoked somewhere is revoked at all living members
//	B24  what a process had revoked that has died is, too, unless its node is lost
//	I9   a communicator has the same members, order, uid and indices at all
//	I18  a node is declared when its lease is over, by its own clock, and its ranks are frozen unless
//	     its daemon pauses; from then on it does not thaw, no agreement between nodes returns
//	     there, and its ranks send nothing once their daemon has run
//	I19  each frame of a lane comes once and in order, and none is lost but with its peer
//	I20  who acts as coordinator does so in no earlier epoch than another one has
//	R31, R36, R38 as in other runs
type nodeChecker struct {
	run        *nodeRun
	agreements map[world.AgreementKey]*world.Agreement
	made       map[world.GroupKey]world.Creation
	byUID      map[commstate.UID][]world.Creation
	gaveUp     map[world.AgreementKey]rankset.Set
	revokedBy  map[world.GroupKey][]int
	drawn      map[world.DrawnIndex]bool
	dead       []rankset.Set // by process: whom it was told to be dead
	epoch      uint32        // the latest in which a coordinator has acted
}

func newNodeChecker(r *nodeRun) nodeChecker {
	n := 0
	for _, size := range r.setup.sizes {
		n += size
	}
	return nodeChecker{
		run: r, agreements: map[world.AgreementKey]*world.Agreement{}, made: map[world.GroupKey]world.Creation{}, byUID: map[commstate.UID][]world.Creation{},
		gaveUp: map[world.AgreementKey]rankset.Set{}, revokedBy: map[world.GroupKey][]int{}, drawn: map[world.DrawnIndex]bool{}, dead: make([]rankset.Set, n),
	}
}

// coordinates is I20: it is asked after every step of a daemon.
func (k *nodeChecker) coordinates(s *station) {
	e, acts := s.rules.Leads()
	if !acts || s.gone || s.over {
		return
	}
	if e < k.epoch {
		k.run.fail("I20", "%s may act as coordinator of epoch %d, and that of %d has acted\n%s", s.name(), e, k.epoch, k.run.describe())
	}
	if e > k.epoch {
		k.epoch = e
		k.run.report.Coordinators++
	}
}

// declaration is the first half of I7, and I18.
func (k *nodeChecker) declaration(by, of *station) {
	if of.declared {
		return
	}
	of.declared = true
	r := k.run
	r.report.Lost++
	if !of.gone {
		r.report.Wronged++
	}
	if e, _ := by.rules.Leads(); e == 0 && by.me != membership.Launcher || e < k.epoch {
		r.fail("I7", "%s declares %s, and is not the coordinator\n%s", by.name(), of.name(), r.describe())
	}
	if !of.gone && !of.over {
		k.deserved(by, of)
	}
}

// deserved is I18 of one that lives: its lease is over by its own clock, and its daemon has stopped
// the ranks if it does not stand still itself. And somebody has had trouble with it (F4): where no
// datagram is lost or late all know of a living node that it is there.
func (k *nodeChecker) deserved(by, of *station) {
	r := k.run
	needsLease := of.needsLease()
	if needsLease && !of.leaseIsOver() {
		r.fail("I18", "%s declares %s, whose lease runs for %v\n%s", by.name(), of.name(), of.lease.Sub(of.local(r.now)), r.describe())
	}
	if needsLease && !of.stands() && !of.frozen {
		r.fail("I18", "%s declares %s, which is not frozen\n%s", by.name(), of.name(), r.describe())
	}
	if !of.condemned && k.untroubled(of, by) {
		r.fail("I6", "%s declares %s, with which nothing is wrong\n%s", by.name(), of.name(), r.describe())
	}
	k.hearsOfIt(of)
}

// untroubled says whether nothing is wrong with a machine and its ways to the coordinator, and was
// not for so long that all must have forgotten it. It is asked only where one loss changes nothing,
// and nobody promises to follow another coordinator.
func (k *nodeChecker) untroubled(s, coordinator *station) bool {
	r := k.run
	recently := r.now.Add(-4 * r.setup.timeout())
	plain := !r.setup.survive && r.setup.loss <= 5 && !r.setup.tails
	return plain && s.trouble < recently && coordinator.trouble < recently && s.stood < recently && !s.stands() && !coordinator.gone && !coordinator.stands() &&
		!r.net.cut(s, coordinator) && !r.net.cut(coordinator, s) && !s.hasComplaints()
}

// hearsOfIt is F6: who was declared, and lives, is told once it can be.
func (k *nodeChecker) hearsOfIt(of *station) {
	r := k.run
	r.plan(r.setup.timeout(), func() {
		switch {
		case of.gone, of.over, r.finished:
		case k.untroubled(of, r.stations[membership.Launcher]):
			r.fail("I18", "%s was declared, and is never told\n%s", of.name(), r.describe())
		default:
			k.hearsOfIt(of)
		}
	})
}

// getsItsDeclaration: a node to which a launcher that is the coordinator for ever cannot give
// orders is granted nothing any more, and so declared when its lease is over.
func (k *nodeChecker) getsItsDeclaration(of *station) {
	r, launcher := k.run, k.run.stations[membership.Launcher]
	r.plan(4*r.setup.timeout(), func() {
		switch {
		case of.declared, of.gone, of.over, r.finished, r.setup.survive, launcher.gone:
		case launcher.stands() || launcher.stood > r.now.Add(-4*r.setup.timeout()):
			k.getsItsDeclaration(of)
		default:
			r.fail("I2", "%s is condemned, and not declared\n%s", of.name(), r.describe())
		}
	})
}

// hadTurn is F11 and F8: after each turn of a daemon whose lease is over its ranks stand still.
func (k *nodeChecker) hadTurn(s *station) {
	if s.needsLease() && !s.gone && !s.over && !s.frozen && s.leaseIsOver() {
		k.run.fail("I18", "the lease of %s is over, and its daemon has had a turn: the ranks run\n%s", s.name(), k.run.describe())
	}
}

// thawed is I18: who begins to run is dead for nobody.
func (k *nodeChecker) thawed(s *station) {
	if s.declared {
		k.run.fail("I18", "%s thaws, and was declared", s.name())
	}
}

// fenced: nobody is told without a reason that it is dead.
func (k *nodeChecker) fenced(s *station) {
	if !s.declared {
		k.run.fail("I6", "%s is fenced, and nobody has declared it", s.name())
	}
}

// returned is I18: an agreement between nodes returns.
func (k *nodeChecker) returned(p *nodeRank, d control.Decided) {
	if p.station.declared && p.program.spansNodes(d.Token) {
		k.run.fail("I18", "process %d returns from an agreement, and its node was declared\n%s", p.proc, k.run.describe())
	}
}

// spoke is I18, of a rank that sends. A machine that goes on may run its ranks before its daemon;
// what they send then nobody need hear.
func (k *nodeChecker) spoke(p *nodeRank, to int) {
	if s := p.station; s.declared && !s.stands() {
		k.run.fail("I18", "process %d sends a frame to %d, and its node was declared\n%s", p.proc, to, k.run.describe())
	}
}

func (k *nodeChecker) declared(p *nodeRank, a control.Declared) {
	q := k.run.ranks[a.Proc]
	if !q.died && !q.station.declared {
		k.run.fail("I6", "process %d declares %d dead, which lives on a node that was not declared", p.proc, a.Proc)
	}
	if !k.dead[p.proc].Add(a.Proc) {
		k.run.fail("I6", "process %d declares %d dead twice", p.proc, a.Proc)
	}
}

func (k *nodeChecker) drew(p *nodeRank, acts []control.Action) {
	for _, a := range acts {
		if a, reserves := a.(control.Reserved); reserves {
			d := world.DrawnIndex{Proc: p.proc, Index: a.Index}
			if k.drawn[d] {
				k.run.fail("I9", "process %d draws index %d twice", p.proc, a.Index)
			}
			k.drawn[d] = true
		}
	}
}

func (k *nodeChecker) revoked(p *nodeRank, a control.Revoked) {
	for _, h := range p.program.handles {
		if h.group.Index == a.Comm {
			k.revokedBy[h.key] = append(k.revokedBy[h.key], p.proc)
		}
	}
}

// proposed notes with what a member enters an agreement.
func (k *nodeChecker) proposed(p *nodeRank, c nodeCall) {
	key := world.AgreementKey{Comm: c.key, Series: c.call.Kind.Series(), Seq: uint64(c.seq)}
	a := k.agreements[key]
	if a == nil {
		size := c.group.Size()
		a = &world.Agreement{Group: c.group, Acked: make([]rankset.Set, size), Dead: make([]rankset.Set, size)}
		k.agreements[key] = a
	}
	known := p.rules.Failed(c.group.Index)
	a.Entered.Add(c.group.Me)
	a.Acked[c.group.Me] = known.AckedSet()
	a.Dead[c.group.Me] = known.Set()
}

// diedIn notes what a revocation has answered in the step in which a process dies: the others may
// hear of that.
func (k *nodeChecker) diedIn(p *nodeRank, acts []control.Action) {
	for _, a := range acts {
		d, ok := a.(control.Decided)
		if !ok || !errors.Is(d.Outcome.Err, ulfm.ErrRevoked) {
			continue
		}
		if c, open := p.program.calls[d.Token]; open && c.call.Kind.Series() == commstate.SeriesCreate {
			k.givenUp(p, world.AgreementKey{Comm: c.key, Series: commstate.SeriesCreate, Seq: uint64(c.seq)})
		}
	}
}

// givenUp notes that a revocation ended a call.
func (k *nodeChecker) givenUp(p *nodeRank, key world.AgreementKey) {
	set := k.gaveUp[key].Clone()
	set.Add(p.proc)
	k.gaveUp[key] = set
}

// absent says whether q may not know that it is a member of a communicator, since a revocation
// answered its call.
func (k *nodeChecker) absent(comm world.GroupKey, q int) bool {
	return k.gaveUp[k.made[comm].From].Has(q)
}

// decided checks one answer against everything that is known.
func (k *nodeChecker) decided(p *nodeRank, d control.Decided) {
	c, open := p.program.calls[d.Token]
	if !open {
		return // the program reports it
	}
	out := d.Outcome
	if errors.Is(out.Err, ulfm.ErrRevoked) && !p.rules.IsRevoked(c.group.Index) {
		k.run.fail("R15", "process %d: %v/%d ends with a revocation that is not known there", p.proc, c.call, c.seq)
	}
	key := world.AgreementKey{Comm: c.key, Series: c.call.Kind.Series(), Seq: uint64(c.seq)}
	if errors.Is(out.Err, ulfm.ErrRevoked) && key.Series == commstate.SeriesCreate && len(world.RanksOf(out.Err)) == 0 {
		k.givenUp(p, key)
		return
	}
	a := k.agreements[key]
	if key.Series == commstate.SeriesClose {
		k.closed(p, key, a)
		return
	}
	if out.Seq != key.Seq || d.Comm != c.group.Index || out.Call != c.call || errors.Is(out.Err, commstate.ErrFreed) {
		k.run.fail("I4", "process %d called %v/%d on %d and is told %+v", p.proc, c.call, c.seq, c.group.Index, d)
		return
	}
	k.agree(p, key, a, c, out)
	k.participation(p, key, a, out)
	k.deaths(p, key, a, out)
	k.errorRule(p, key, a, c, out)
	k.group(p, key, c, out)
}

// agree is I1.
func (k *nodeChecker) agree(p *nodeRank, key world.AgreementKey, a *world.Agreement, c nodeCall, out commstate.Outcome) {
	text := world.DecisionText(key, out)
	for _, d := range a.Decisions {
		if d.Text != text && k.binds(k.run.ranks[d.Proc], a.Group) {
			k.run.fail("I1", "%v/%d on %v: process %d decides %s, process %d decided %s\n%s", key.Series, key.Seq, key.Comm, p.proc, text, d.Proc, d.Text, k.run.describe())
		}
	}
	if len(a.Decisions) == 0 {
		k.run.report.Agreements++
		if c.call.Kind == commstate.KindShrink {
			k.run.report.Shrinks++
		}
	}
	a.Decisions = append(a.Decisions, world.Decision{Proc: p.proc, Text: text})
}

// binds says whether the others have to decide as a process has (A17): it lives, or a member on
// its node does, whose memory has the decision.
func (k *nodeChecker) binds(p *nodeRank, g commstate.Group) bool {
	byMessages := k.run.setup.flat && len(k.run.teamsOf(g)) > 1 || !control.HasBlocks(g.Indices, world.Blocks)
	if p.lives() || byMessages {
		return p.lives()
	}
	return slices.ContainsFunc(g.Procs, func(q int) bool { return k.run.ranks[q].station == p.station && k.run.ranks[q].lives() })
}

// closed checks that a communicator is forgotten only when no member can need it.
func (k *nodeChecker) closed(p *nodeRank, key world.AgreementKey, a *world.Agreement) {
	for rank, q := range a.Group.Procs {
		if !a.Entered.Has(rank) && k.run.ranks[q].lives() && !k.absent(key.Comm, q) {
			k.run.fail("I3", "process %d has closed %v, process %d has not proposed it", p.proc, key.Comm, q)
		}
	}
}

// participation is I3, R38, and the other half of I7. The flag has a zero for each contributor.
func (k *nodeChecker) participation(p *nodeRank, key world.AgreementKey, a *world.Agreement, out commstate.Outcome) {
	for rank, q := range a.Group.Procs {
		contributed := out.Flag>>rank&1 == 0
		switch {
		case contributed && !a.Entered.Has(rank):
			k.run.fail("I3", "%v/%d on %v: process %d has a contribution of %d, which called nothing", key.Series, key.Seq, key.Comm, p.proc, q)
		case !contributed && k.run.ranks[q].lives() && !k.absent(key.Comm, q):
			k.run.fail("I7", "%v/%d on %v: process %d decides without %d, which lives on a node that was not declared\n%s", key.Series, key.Seq, key.Comm, p.proc, q, k.run.describe())
		case !contributed && !slices.Contains(out.Dead, rank) && !k.absent(key.Comm, q):
			k.run.fail("I3", "%v/%d on %v: process %d decides without %d, which is not agreed to be dead", key.Series, key.Seq, key.Comm, p.proc, q)
		}
		if contributed && !a.Dead[rank].SubsetOf(rankset.Of(out.Dead...)) {
			k.run.fail("R38", "%v/%d on %v: dead %v are agreed, %d knew %v", key.Series, key.Seq, key.Comm, out.Dead, q, a.Dead[rank])
		}
	}
}

// deaths is I6 and R31.
func (k *nodeChecker) deaths(p *nodeRank, key world.AgreementKey, a *world.Agreement, out commstate.Outcome) {
	for _, rank := range out.Dead {
		q := a.Group.Procs[rank]
		if k.run.ranks[q].lives() {
			k.run.fail("I6", "%v/%d on %v: process %d is agreed to be dead and lives", key.Series, key.Seq, key.Comm, q)
		}
		if !k.dead[p.proc].Has(q) || !p.rules.Dead().Has(q) {
			k.run.fail("R31", "%v/%d on %v: process %d sees that %d is dead before it is told", key.Series, key.Seq, key.Comm, p.proc, q)
		}
	}
}

// errorRule is R36: agree succeeds iff every contributor had acknowledged every agreed death.
func (k *nodeChecker) errorRule(p *nodeRank, key world.AgreementKey, a *world.Agreement, c nodeCall, out commstate.Outcome) {
	if !a.KeepsErrorRule(c.call, out) {
		k.run.fail("R36", "%v/%d on %v: process %d has error %v, agreed dead %v, acknowledged %v", key.Series, key.Seq, key.Comm, p.proc, out.Err, out.Dead, a.Acked)
	}
}

// group is I9: a communicator is the same at all its members; a shrink makes one of all who are not
// agreed to be dead.
func (k *nodeChecker) group(p *nodeRank, key world.AgreementKey, c nodeCall, out commstate.Outcome) {
	g := out.New
	if g == nil {
		if c.call.Kind == commstate.KindShrink && out.Err == nil {
			k.run.fail("R40", "process %d: a shrink made nothing", p.proc)
		}
		return
	}
	if g.Procs[g.Me] != p.proc || g.Indices[g.Me] != g.Index {
		k.run.fail("I9", "process %d is rank %d of %v with indices %v and has index %d", p.proc, g.Me, g.Procs, g.Indices, g.Index)
	}
	if _, known := k.made[world.KeyOf(*g)]; !known {
		k.made[world.KeyOf(*g)] = world.Creation{Group: *g, From: key}
		k.newGroup(key, c, out)
	}
	for _, other := range k.byUID[g.UID] {
		o := other.Group
		if !k.run.ranks[o.Procs[o.Me]].lives() {
			continue
		}
		if other.From != key || !slices.Equal(o.Procs, g.Procs) || !slices.Equal(o.Indices, g.Indices) {
			k.run.fail("I9", "communicator %v is %v %v at process %d, and %v %v at %d", g.UID, g.Procs, g.Indices, p.proc, o.Procs, o.Indices, o.Procs[o.Me])
		}
	}
	k.byUID[g.UID] = append(k.byUID[g.UID], world.Creation{Group: *g, From: key})
}

// newGroup checks a communicator by what its members drew and who they are.
func (k *nodeChecker) newGroup(key world.AgreementKey, c nodeCall, out commstate.Outcome) {
	g := out.New
	for rank, q := range g.Procs {
		if !k.drawn[world.DrawnIndex{Proc: q, Index: g.Indices[rank]}] {
			k.run.fail("I9", "communicator %v has index %d for process %d, which never drew it", g.UID, g.Indices[rank], q)
		}
	}
	var want []int
	for rank, q := range c.group.Procs {
		if !slices.Contains(out.Dead, rank) && !k.absent(key.Comm, q) {
			want = append(want, q)
		}
	}
	if !slices.Equal(want, g.Procs) {
		k.run.fail("R39", "%v of %v without %v makes %v", c.call, c.group.Procs, out.Dead, g.Procs)
	}
}
