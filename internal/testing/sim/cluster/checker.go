package cluster

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
	"github.com/goulfm/goulfm/ulfm"
)

// checker observes all answers to programs, at all processes at once.
type checker struct {
	sim        *simulation
	agreements map[world.AgreementKey]*world.Agreement
	made       map[world.GroupKey]world.Creation
	byUID      map[commstate.UID][]world.Creation // as each member that received it saw it
	gaveUp     map[world.AgreementKey]rankset.Set // processes with a call that a revocation answered
	revokedBy  map[world.GroupKey]int             // last process that learned of the revocation
	drawn      map[world.DrawnIndex]bool
	dead       []rankset.Set // by process: the processes that it declared dead
	wrongly    []uint64      // by process: the live processes that it declared dead, as a set
	accused    rankset.Set   // declared dead by any process
	outcast    rankset.Set   // declared dead by a process that has left
	splits     []split
}

// split is two processes with different answers. In a Wild run a split is no violation if one of
// the two has declared the other dead, because the declarer continues alone; see also differ.
type split struct {
	p, q            int
	invariant, text string
}

func newChecker(s *simulation) *checker {
	return &checker{
		sim:        s,
		agreements: map[world.AgreementKey]*world.Agreement{},
		made:       map[world.GroupKey]world.Creation{},
		byUID:      map[commstate.UID][]world.Creation{},
		gaveUp:     map[world.AgreementKey]rankset.Set{},
		revokedBy:  map[world.GroupKey]int{},
		drawn:      map[world.DrawnIndex]bool{},
		dead:       make([]rankset.Set, s.swarm.n),
		wrongly:    make([]uint64, s.swarm.n),
	}
}

func (k *checker) declared(p *process, a control.Declared) {
	switch {
	case k.sim.swarm.detector != Wild && !k.sim.procs[a.Proc].ended:
		k.sim.fail("I6", "process %d declares %d dead, which lives", p.id, a.Proc)
	case !k.dead[p.id].Add(a.Proc):
		k.sim.fail("I6", "process %d declares %d dead twice", p.id, a.Proc)
	}
	k.accused.Add(a.Proc)
	if !k.sim.procs[a.Proc].ended {
		k.accuse(p.id, a.Proc)
	}
	if q := k.sim.procs[a.Proc]; k.sim.swarm.detector == Ring {
		if took, most := k.sim.now.Sub(q.endedAt), detectionMax(k.sim.swarm.n, k.sim.report.Deaths); took > most {
			k.sim.fail("I5", "process %d hears of the death of %d after %v, within %v is promised", p.id, a.Proc, took, most)
		}
	}
}

// differ notes that two live processes had different answers. Accusations cross if each of two
// processes has declared a live process that the other had not declared. Then both may be right,
// and with them all processes that learned from them:
//
//	11 sends its contribution to 5. A partition: 11 declares 5, and decides with 0;
//	5 declares 0, and decides with 1, 11's contribution among the rest. The partition
//	heals: the accused processes end, on both sides. 11 and 3 live, and no process
//	has accused either of them.
func (k *checker) differ(p, q int, invariant, format string, args ...any) {
	if k.sim.swarm.detector != Wild {
		k.sim.fail(invariant, format, args...)
		return
	}
	k.splits = append(k.splits, split{p: p, q: q, invariant: invariant, text: fmt.Sprintf(format, args...)})
}

// accuse notes a wrong declaration, and whether accusations cross now.
func (k *checker) accuse(p, q int) {
	k.wrongly[p] |= 1 << q
	for r, theirs := range k.wrongly {
		if mine := k.wrongly[p]; r != p && mine&^theirs != 0 && theirs&^mine != 0 {
			k.sim.report.Crossed = true
		}
	}
}

// mayDiffer reports whether p may harmlessly have had another answer than q: p has ended, or, in a
// Wild run, p or q is accused and will end, or accusations cross (see differ).
func (k *checker) mayDiffer(p, q int) bool {
	return k.sim.procs[p].ended || k.sim.swarm.detector == Wild && (k.accused.Has(p) || k.accused.Has(q) || k.sim.report.Crossed)
}

// without reports whether p may continue without q: q has ended, or, in a Wild run, p has declared
// q, or a process that left in peace has declared p or q and thereby ended their finalize.
func (k *checker) without(p, q int) bool {
	return k.sim.procs[q].ended || k.sim.swarm.detector == Wild && (k.dead[p].Has(q) || k.outcast.Has(q) || k.outcast.Has(p))
}

// parted reports whether the others may continue without q, although q lives and none of them has
// declared q: q has left, or a process that has left declared q dead.
func (k *checker) parted(q int) bool {
	return k.sim.swarm.detector == Wild && (k.outcast.Has(q) || k.sim.procs[q].left)
}

// left notes the processes that p had declared dead when it left.
func (k *checker) left(p *process) { k.outcast.Union(k.dead[p.id]) }

// drew notes the indices that a process drew in a step: others may read them in memory before the
// process carries out the first action.
func (k *checker) drew(p *process, acts []control.Action) {
	for _, a := range acts {
		a, ok := a.(control.Reserved)
		if !ok {
			continue
		}
		d := world.DrawnIndex{Proc: p.id, Index: a.Index}
		if k.drawn[d] {
			k.sim.fail("I9", "process %d draws index %d twice", p.id, a.Index)
		}
		k.drawn[d] = true
	}
}

func (k *checker) revoked(p *process, a control.Revoked) {
	for _, h := range p.program.handles {
		if h.group.Index == a.Comm {
			k.revokedBy[h.key] = p.id
		}
	}
}

// proposed notes the state with which a member enters an agreement: its acknowledged set and its
// known dead.
func (k *checker) proposed(p *process, c call) {
	if c.members != nil {
		k.gathers(c)
		return
	}
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

// decided checks one answer against all recorded facts.
func (k *checker) decided(p *process, d control.Decided) {
	c, open := p.program.calls[d.Token]
	if !open {
		return // the program reports it
	}
	k.knowsRevoked(p, c, d.Outcome)
	if c.members != nil {
		k.gathered(p, c, d.Outcome)
		return
	}
	key := world.AgreementKey{Comm: c.key, Series: c.call.Kind.Series(), Seq: uint64(c.seq)}
	out := d.Outcome
	if errors.Is(out.Err, ulfm.ErrRevoked) && key.Series == commstate.SeriesCreate && len(world.RanksOf(out.Err)) == 0 {
		k.givenUp(p, key)
		return
	}
	a := k.agreements[key]
	if out.Seq != key.Seq || d.Comm != c.group.Index || out.Call != c.call || errors.Is(out.Err, commstate.ErrFreed) {
		k.sim.fail("I4", "process %d called %v/%d on %d and is told %+v", p.id, c.call, c.seq, c.group.Index, d)
		return
	}
	k.agree(p, key, a, out)
	if key.Series == commstate.SeriesClose {
		k.closed(p, key, a)
		return
	}
	k.participation(p, key, a, out)
	k.deaths(p, key, a, out)
	k.errorRule(p, key, a, c, out)
	k.group(p, key, c, out)
}

// knowsRevoked checks that a call answered with "revoked" was on a communicator that is revoked at
// its caller.
func (k *checker) knowsRevoked(p *process, c call, out commstate.Outcome) {
	if errors.Is(out.Err, ulfm.ErrRevoked) && !p.rules.IsRevoked(c.group.Index) {
		k.sim.fail("R15", "process %d: %v/%d ends with a revocation that is not known there", p.id, c.call, c.seq)
	}
}

// givenUp notes that a revocation ended a call.
func (k *checker) givenUp(p *process, key world.AgreementKey) {
	set := k.gaveUp[key].Clone()
	set.Add(p.id)
	k.gaveUp[key] = set
}

// diedIn notes the answers of a revocation in the step in which a process dies. The program never
// receives them, but the other members may learn of them: the announcement that the process does
// not take part is sent in the same step.
func (k *checker) diedIn(p *process, acts []control.Action) {
	for _, a := range acts {
		d, ok := a.(control.Decided)
		if !ok || !errors.Is(d.Outcome.Err, ulfm.ErrRevoked) {
			continue
		}
		switch c, open := p.program.calls[d.Token]; {
		case !open:
		case c.members != nil:
			k.givenUp(p, c.gatherKey())
		case c.call.Kind.Series() == commstate.SeriesCreate:
			k.givenUp(p, world.AgreementKey{Comm: c.key, Series: commstate.SeriesCreate, Seq: uint64(c.seq)})
		}
	}
}

// agree checks I1: live processes never differ. Processes that have died since may have had another
// answer (A17).
func (k *checker) agree(p *process, key world.AgreementKey, a *world.Agreement, out commstate.Outcome) {
	text := world.DecisionText(key, out)
	for _, d := range a.Decisions {
		if k.sim.procs[d.Proc].living() && d.Text != text {
			k.differ(p.id, d.Proc, "I1", "%v/%d on %v: process %d decides %s, process %d decided %s", key.Series, key.Seq, key.Comm, p.id, text, d.Proc, d.Text)
		}
	}
	if len(a.Decisions) == 0 {
		k.sim.report.Agreements++
	}
	a.Decisions = append(a.Decisions, world.Decision{Proc: p.id, Text: text})
}

// closed checks that a communicator is forgotten only when no member can need it.
func (k *checker) closed(p *process, key world.AgreementKey, a *world.Agreement) {
	for rank, q := range a.Group.Procs {
		if !a.Entered.Has(rank) && !k.without(p.id, q) && !k.absent(key.Comm, q) {
			k.sim.fail("I3", "process %d has closed %v, process %d has not proposed it", p.id, key.Comm, q)
		}
	}
}

// participation checks I3 and R38. The flag has a zero for each contributor.
func (k *checker) participation(p *process, key world.AgreementKey, a *world.Agreement, out commstate.Outcome) {
	for rank, q := range a.Group.Procs {
		contributed := out.Flag>>rank&1 == 0
		switch {
		case contributed && !a.Entered.Has(rank):
			k.sim.fail("I3", "%v/%d on %v: process %d has a contribution of %d, which called nothing", key.Series, key.Seq, key.Comm, p.id, q)
		case !contributed && !k.without(p.id, q) && !k.absent(key.Comm, q):
			k.sim.fail("I3", "%v/%d on %v: process %d decides without %d, which lives", key.Series, key.Seq, key.Comm, p.id, q)
		case !contributed && !slices.Contains(out.Dead, rank) && !k.parted(q) && !k.parted(p.id) && !k.absent(key.Comm, q):
			k.sim.fail("I3", "%v/%d on %v: process %d decides without %d, which is not agreed to be dead", key.Series, key.Seq, key.Comm, p.id, q)
		}
		if contributed && !a.Dead[rank].SubsetOf(rankset.Of(out.Dead...)) {
			k.sim.fail("R38", "%v/%d on %v: dead %v are agreed, %d knew %v", key.Series, key.Seq, key.Comm, out.Dead, q, a.Dead[rank])
		}
	}
}

// absent reports whether q may be unaware that it is a member of a communicator, because a
// revocation answered its call.
func (k *checker) absent(comm world.GroupKey, q int) bool {
	return k.gaveUp[k.made[comm].From].Has(q)
}

// deaths checks I6 and R31.
func (k *checker) deaths(p *process, key world.AgreementKey, a *world.Agreement, out commstate.Outcome) {
	for _, rank := range out.Dead {
		q := a.Group.Procs[rank]
		if k.sim.swarm.detector != Wild && !k.sim.procs[q].ended {
			k.sim.fail("I6", "%v/%d on %v: process %d is agreed to be dead and lives", key.Series, key.Seq, key.Comm, q)
		}
		if !k.dead[p.id].Has(q) || !p.rules.Dead().Has(q) {
			k.sim.fail("R31", "%v/%d on %v: process %d sees that %d is dead before it is told", key.Series, key.Seq, key.Comm, p.id, q)
		}
	}
}

// errorRule checks R28 and R36: agree succeeds if and only if the acknowledged set of every
// contributor equals the set of agreed deaths.
func (k *checker) errorRule(p *process, key world.AgreementKey, a *world.Agreement, c call, out commstate.Outcome) {
	if !a.KeepsErrorRule(c.call, out) {
		k.sim.fail("R36", "%v/%d on %v: process %d has error %v, agreed dead %v, acknowledged %v", key.Series, key.Seq, key.Comm, p.id, out.Err, out.Dead, a.Acked)
	}
}

// group checks I9: a communicator is the same at all its members.
func (k *checker) group(p *process, key world.AgreementKey, c call, out commstate.Outcome) {
	g := out.New
	if g == nil {
		if c.call.Kind == commstate.KindShrink && out.Err == nil {
			k.sim.fail("R40", "process %d: a shrink made nothing", p.id)
		}
		return
	}
	if g.Procs[g.Me] != p.id || g.Indices[g.Me] != g.Index {
		k.sim.fail("I9", "process %d is rank %d of %v with indices %v and has index %d", p.id, g.Me, g.Procs, g.Indices, g.Index)
	}
	if _, known := k.made[world.KeyOf(*g)]; !known {
		k.made[world.KeyOf(*g)] = world.Creation{Group: *g, From: key}
		k.newGroup(key, c, out)
	}
	for _, other := range k.byUID[g.UID] {
		o := other.Group
		if !k.sim.procs[o.Procs[o.Me]].living() {
			continue
		}
		if other.From != key || !slices.Equal(o.Procs, g.Procs) || !slices.Equal(o.Indices, g.Indices) {
			k.differ(p.id, o.Procs[o.Me], "I9", "communicator %v is %v %v at process %d, and %v %v at %d", g.UID, g.Procs, g.Indices, p.id, o.Procs, o.Indices, o.Procs[o.Me])
		}
	}
	k.byUID[g.UID] = append(k.byUID[g.UID], world.Creation{Group: *g, From: key})
}

// newGroup checks a communicator against the indices that its members drew, and against its
// expected members.
func (k *checker) newGroup(key world.AgreementKey, c call, out commstate.Outcome) {
	g := out.New
	for rank, q := range g.Procs {
		if !k.drawn[world.DrawnIndex{Proc: q, Index: g.Indices[rank]}] {
			k.sim.fail("I9", "communicator %v has index %d for process %d, which never drew it", g.UID, g.Indices[rank], q)
		}
	}
	if c.call.Kind == commstate.KindSplit {
		return
	}
	if c.members != nil {
		if !slices.Equal(c.members, g.Procs) {
			k.sim.fail("R57", "%v of %v makes %v", c.call, c.members, g.Procs)
		}
		return
	}
	var want []int
	for rank, q := range c.group.Procs {
		if !slices.Contains(out.Dead, rank) && !k.absent(key.Comm, q) && !k.parted(q) {
			want = append(want, q)
		}
	}
	procs := slices.DeleteFunc(slices.Clone(g.Procs), k.parted)
	if !slices.Equal(want, procs) {
		k.sim.fail("R39", "%v of %v without %v makes %v", c.call, c.group.Procs, out.Dead, g.Procs)
	}
}

// final checks the conditions that must hold when no event is left.
func (k *checker) final() {
	for _, p := range k.sim.procs {
		if !p.running() {
			continue
		}
		if p.stopped || k.sim.swarm.closes || !p.program.done() {
			k.sim.fail("I2", "process %d is not done, and nothing happens any more\n%s", p.id, p.rules.Describe())
			return
		}
		k.completeness(p)
		k.revocations(p)
	}
	for _, s := range k.splits {
		if k.sim.procs[s.p].living() && !k.sim.report.Crossed && !k.without(s.p, s.q) && !k.without(s.q, s.p) {
			k.sim.fail(s.invariant, "%s", s.text)
		}
	}
}

// completeness checks I5, and the end of every false declaration: a process that was declared dead
// has ended, or has declared in turn.
func (k *checker) completeness(p *process) {
	for _, q := range k.sim.procs {
		known := k.dead[p.id].Has(q.id)
		switch {
		case q.ended && !known:
			k.sim.fail("I5", "process %d has ended, and process %d never hears of it", q.id, p.id)
		case q.running() && known && !k.dead[q.id].Has(p.id):
			k.sim.fail("I6", "process %d is declared dead by %d, and goes on as if nothing was", q.id, p.id)
		}
	}
}

func (k *checker) revocations(p *process) {
	for _, h := range p.program.handles {
		by, revoked := k.revokedBy[h.key]
		if revoked && k.sim.procs[by].living() && !k.without(p.id, by) && !p.rules.IsRevoked(h.group.Index) {
			k.sim.fail("I8", "communicator %v is revoked at process %d, not at %d", h.group.UID, by, p.id)
		}
		if k.sim.swarm.uniform && slices.ContainsFunc(h.group.Procs, k.dead[p.id].Has) && !p.rules.IsRevoked(h.group.Index) {
			k.sim.fail("C9", "communicator %v has a dead member and is not revoked at process %d", h.group.UID, p.id)
		}
	}
}
