package nodes

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/membership"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// settleFor bounds the time of a run after its last fault. A session gives an attempt three
// seconds, and complains after one. The rest is for the roster.
func (s nodeSetup) settleFor() mono.Duration {
	return 10*mono.Second + s.link + s.orphan + 60*s.timeout()
}

// knownWithin bounds the time until all processes know of a death, once the faults are over and the
// lanes are quiet.
func (s nodeSetup) knownWithin() mono.Duration { return 2*mono.Second + s.link + 20*s.timeout() }

// lookWhetherDone ends the run when all live processes are done, or when the run takes too long.
func (r *nodeRun) lookWhetherDone() {
	if !r.finished {
		r.plan(r.setup.period, r.lookWhetherDone)
	}
	running, done := 0, true
	for _, p := range r.ranks {
		if !p.ended() {
			running++
		}
		if p.lives() && !p.left && (r.setup.closes || !p.program.done() || p.stands()) {
			done = false
		}
	}
	switch {
	case running == 0:
		r.finished = true
	case !r.calm() || !done:
		r.quiet = 0
	case r.quiet == 0:
		r.quiet = r.now
	case r.now.Sub(r.quiet) > r.setup.knownWithin():
		r.finished = true
	}
	if r.now.Sub(world.Epoch) > r.setup.safety+r.setup.settleFor() {
		r.finished = true
		r.check.overdue()
	}
}

// overdue checks I2: live processes are not done. If the job cannot continue, it must have ended by
// now.
func (k *nodeChecker) overdue() {
	r := k.run
	if r.quiet > 0 {
		return // all are done, but only since a short time
	}
	if r.canGoOn() {
		r.fail("I2", "%v after the last fault the programs are not done\n%s", r.setup.settleFor(), r.describe())
		return
	}
	for _, s := range r.stations[1:] {
		if !s.gone && !s.over {
			r.fail("I2", "the job cannot go on, and %s does not end\n%s", s.name(), r.describe())
		}
	}
}

// canGoOn reports whether there is a coordinator, or the live members can choose one: they are a
// majority of the remaining voters, both by the known and by the written declarations.
func (r *nodeRun) canGoOn() bool {
	if !r.setup.survive {
		return !r.stations[membership.Launcher].gone
	}
	var live, declared rankset.Set
	newest := membership.Record{}
	for _, s := range r.stations {
		wrote := s.rules.Written()
		if wrote.Epoch > newest.Epoch || wrote.Epoch == newest.Epoch && wrote.Dead.Len() > newest.Dead.Len() {
			newest = wrote
		}
		if s.gone || s.over {
			continue
		}
		live.Add(s.me)
		declared.Union(s.declarations)
	}
	known := rankset.Range(0, len(r.stations))
	known.Subtract(declared)
	written := rankset.Range(0, len(r.stations))
	written.Subtract(newest.Dead)
	return isMajorityOf(live, written) && isMajorityOf(live, known)
}

// isMajorityOf implements the majority of package membership.
func isMajorityOf(yes, voters rankset.Set) bool {
	have := yes.Clone()
	have.Intersect(voters)
	half := 2*have.Len() - voters.Len()
	return half > 0 || half == 0 && have.Has(voters.Next(0))
}

// final checks the conditions that must hold in the end. One of them is the end of every
// declaration: no process of a declared node runs (F7). The other machines can reach its machine
// again, because all pauses and cuts are over. Package cluster permits a declared process that has
// declared in turn; here at most one side of a partition continues (F9).
func (k *nodeChecker) final() {
	k.run.report.Stopped = !k.run.canGoOn()
	for _, p := range k.run.ranks {
		switch {
		case k.run.report.Stopped, p.ended():
		case p.station.declared:
			k.run.fail("I6", "the node of process %d was declared, and the process does not end\n%s", p.proc, k.run.describe())
		case p.lives():
			k.completeness(p)
			k.revocations(p)
		}
	}
}

// completeness checks I5.
func (k *nodeChecker) completeness(p *nodeRank) {
	for _, q := range k.run.ranks {
		known := k.dead[p.proc].Has(q.proc)
		if (q.died || q.station.declared) && !q.left && !known {
			k.run.fail("I5", "process %d has ended, or its node was declared, and process %d never hears of it\n%s", q.proc, p.proc, k.run.describe())
		}
	}
}

// revocations checks I8 and B24.
func (k *nodeChecker) revocations(p *nodeRank) {
	for _, h := range p.program.handles {
		if p.rules.IsRevoked(h.group.Index) {
			continue
		}
		by := slices.IndexFunc(k.revokedBy[h.key], func(q int) bool { return k.run.ranks[q].lives() })
		if by >= 0 {
			k.run.fail("I8", "communicator %v is revoked at process %d, not at %d\n%s", h.group.UID, k.revokedBy[h.key][by], p.proc, k.run.describe())
		}
		for _, q := range k.run.ranks {
			if q.died && q.station.counts() && slices.ContainsFunc(q.told, func(r commstate.Revocation) bool { return r.Meets(h.group) }) {
				k.run.fail("B24", "process %d revoked communicator %v and died, and %d never hears of it\n%s", q.proc, h.group.UID, p.proc, k.run.describe())
			}
		}
	}
}
