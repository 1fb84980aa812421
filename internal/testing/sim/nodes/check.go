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

// nodeChecker observes all events, on all nodes at once.
//
//	I1   live processes never differ in a decision; dead members of a node with a live member
//	     do not differ either, if the node decides in its memory
//	I2   every call of a live process ends once the faults are over; a job that cannot continue
//	     ends
//	I3   every live member's contribution is in a decision, and nothing else
//	I4   a call is answered exactly once
//	I5   each death is known to all survivors in the end
//	I6   a process that is dead for any other has ended, or its node was declared; in the end no
//	     process of a declared node runs
//	I7   only the coordinator declares; no agreement leaves out a member that runs
//	I8   a communicator revoked at one live member is revoked at all live members
//	B24  a revocation outlives its revoker, unless the node of the revoker is lost
//	I9   a communicator has the same members, order, uid and indices at all
//	I18  a node is declared when its lease is over, by its own clock, and its ranks are frozen unless
//	     its daemon pauses; from then on it does not thaw, no agreement between nodes returns
//	     there, and its ranks send nothing once their daemon has run
//	I19  each frame of a lane comes once and in order, and none is lost except with its peer
//	I20  no coordinator acts in an epoch before that of an earlier coordinator
//	R31, R36, R38 as in other runs
type nodeChecker struct {
	run        *nodeRun
	agreements map[world.AgreementKey]*world.Agreement
	made       map[world.GroupKey]world.Creation
	byUID      map[commstate.UID][]world.Creation
	gaveUp     map[world.AgreementKey]rankset.Set
	revokedBy  map[world.GroupKey][]int
	drawn      map[world.DrawnIndex]bool
	dead       []rankset.Set // by process: the processes that it declared dead
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

// coordinates checks I20 after every step of a daemon.
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

// declaration checks the first half of I7, and I18.
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

// deserved checks I18 for a declared node that lives: its lease is over by its own clock, and its
// daemon has frozen the ranks unless the daemon is paused itself. There must also have been trouble
// with the node (F4): where no datagram is lost or late, all members know of every live node.
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

// untroubled reports whether a machine and its paths to the coordinator are without faults, and
// have been for so long that all members have forgotten earlier faults. The result is false in runs
// in which a few losses matter, or in which another coordinator may follow.
func (k *nodeChecker) untroubled(s, coordinator *station) bool {
	r := k.run
	recently := r.now.Add(-4 * r.setup.timeout())
	plain := !r.setup.survive && r.setup.loss <= 5 && !r.setup.tails
	return plain && s.trouble < recently && coordinator.trouble < recently && s.stood < recently && !s.stands() && !coordinator.gone && !coordinator.stands() &&
		!r.net.cut(s, coordinator) && !r.net.cut(coordinator, s) && !s.hasComplaints()
}

// hearsOfIt checks F6: a declared node that lives is informed once it can be reached.
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

// getsItsDeclaration checks the end of a node to which an attached launcher cannot give orders. The
// launcher grants this node no lease any more, and declares the node when its lease is over.
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

// hadTurn checks F11 and F8: after each turn of a daemon whose lease is over, its ranks are frozen.
func (k *nodeChecker) hadTurn(s *station) {
	if s.needsLease() && !s.gone && !s.over && !s.frozen && s.leaseIsOver() {
		k.run.fail("I18", "the lease of %s is over, and its daemon has had a turn: the ranks run\n%s", s.name(), k.run.describe())
	}
}

// thawed checks I18: a node that thaws was not declared.
func (k *nodeChecker) thawed(s *station) {
	if s.declared {
		k.run.fail("I18", "%s thaws, and was declared", s.name())
	}
}

// fenced checks I6: no node is fenced without a declaration.
func (k *nodeChecker) fenced(s *station) {
	if !s.declared {
		k.run.fail("I6", "%s is fenced, and nobody has declared it", s.name())
	}
}

// returned checks I18 when an agreement between nodes returns.
func (k *nodeChecker) returned(p *nodeRank, d control.Decided) {
	if p.station.declared && p.program.spansNodes(d.Token) {
		k.run.fail("I18", "process %d returns from an agreement, and its node was declared\n%s", p.proc, k.run.describe())
	}
}

// spoke checks I18 for a rank that sends. A machine that resumes may run its ranks before its
// daemon. The frames that they send then may be ignored.
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

// proposed notes the state with which a member enters an agreement: its acknowledged set and its
// known dead.
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

// diedIn notes the answers of a revocation in the step in which a process dies: the others may
// learn of these answers.
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

// absent reports whether q may be unaware that it is a member of a communicator, because a
// revocation answered its call.
func (k *nodeChecker) absent(comm world.GroupKey, q int) bool {
	return k.gaveUp[k.made[comm].From].Has(q)
}

// decided checks one answer against all recorded facts.
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

// agree checks I1.
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

// binds reports whether the others must decide as a process has decided (A17): the process lives,
// or a member on its node does, and the memory of the node has the decision.
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

// participation checks I3, R38, and the other half of I7. The flag has a zero for each contributor.
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

// deaths checks I6 and R31.
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

// errorRule checks R36: agree succeeds if and only if the acknowledged set of every contributor
// equals the set of agreed deaths.
func (k *nodeChecker) errorRule(p *nodeRank, key world.AgreementKey, a *world.Agreement, c nodeCall, out commstate.Outcome) {
	if !a.KeepsErrorRule(c.call, out) {
		k.run.fail("R36", "%v/%d on %v: process %d has error %v, agreed dead %v, acknowledged %v", key.Series, key.Seq, key.Comm, p.proc, out.Err, out.Dead, a.Acked)
	}
}

// group checks I9: a communicator is the same at all its members.
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

// newGroup checks a communicator against the indices that its members drew. Its members must be all
// that are not agreed to be dead.
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
