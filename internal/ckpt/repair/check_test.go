package repair

import (
	"fmt"
	"slices"
)

// checkRun checks V1: all members begin with the same size, with ranks in order, and with different
// homes. Of V13 it checks which ranks have a new process.
func (m *model) checkRun(p *proc, a Run) {
	if a.Size != p.comm.size || len(p.comm.members) != a.Size {
		m.violate("V1: p%d begins with size %d on communicator %d of %d", p.id, a.Size, p.comm.id, p.comm.size)
		return
	}
	if p.comm.members[a.Rank] != p {
		m.violate("V1: p%d begins as rank %d of communicator %d, where that is p%d", p.id, a.Rank, p.comm.id, p.comm.members[a.Rank].id)
	}
	if isNew := p.joined && !p.sealed; isNew != (a.Role == Recovered) || isNew != slices.Contains(a.Lost, a.Rank) {
		m.violate("V13: p%d begins attempt %d with role %d, lost are %v", p.id, a.Attempt, a.Role, a.Lost)
	}
	for _, q := range p.comm.members {
		if q != p && q.alive && q.base == p.comm && q.world.hist.homes[q.world.rank] == a.Home {
			m.violate("V1: p%d and p%d have home %d", p.id, q.id, a.Home)
		}
	}
}

// checkReturn checks V7 and V2 at the answers of the library, and the end of a Protect by
// checkSealed.
func (m *model) checkReturn(p *proc, r Return) {
	b := &p.body
	for _, q := range p.base.members {
		if q == p || !q.alive || q.base != p.base || q.last != p.last || q.wait != nil || len(q.queue) > 0 || q.body.phase != bodyWork {
			continue
		}
		if p.last != nil && p.last.kind == "agree" && q.body.verdict != r.Verdict {
			m.violate("V7: one boundary tells p%d %d and p%d %d", p.id, r.Verdict, q.id, q.body.verdict)
		}
		if q.world.filesOpen != p.world.filesOpen {
			m.violate("V7: after one boundary files are open at one of p%d and p%d", p.id, q.id)
		}
		if q.world.Interval() != p.world.Interval() {
			m.violate("V7: intervals %d and %d", p.world.Interval(), q.world.Interval())
		}
	}
	sealed := r.Verdict == OK && b.step == m.stepOf(p, r.Label) && p.world.call == CallSeal && p.last.kind == "agree"
	if sealed {
		p.sealed = true
		m.checkSealed(p, r.Label)
	}
	if r.Verdict == BadLost && !m.excused {
		m.violate("V2: p%d finds no whole version though losses stayed within the levels", p.id)
	}
	if r.Verdict == BadMembers || r.Verdict == BadPlace || r.Verdict == BadReplica && m.setup.flip < 0 {
		m.violate("p%d is told %d without a reason", p.id, r.Verdict)
	}
}

func (m *model) stepOf(p *proc, l Label) int {
	if l.IsZero() {
		return 0
	}
	return p.body.step
}

// checkSealed checks V1, V2, V6 and V8 at the end of a Protect; V8 only without copies.
func (m *model) checkSealed(p *proc, l Label) {
	if len(m.promisers) > 0 && l.Less(m.promised) && !m.excused && !m.setup.cfg.Verify {
		m.violate("V2: p%d goes on from %v, and a Commit returned %v", p.id, l, m.promised)
	}
	for _, q := range p.base.members {
		if q.alive && q.base == p.base && q.world.call == CallSeal && q.body.phase == bodyWork && q.world.hist.last != l {
			m.violate("V1: p%d goes on from %v, p%d from %v", p.id, l, q.id, q.world.hist.last)
		}
	}
	if b := &p.body; b.own < m.saved[p.trueHome] && !m.excused && m.setup.copies == 0 {
		m.violate("V8: p%d has saved %d at home %d and finds %d", p.id, m.saved[p.trueHome], p.trueHome, b.own)
	}
	m.checkCopies(p, l)
}

// checkCopies checks V6 for a version that was restored from the memory of a world of the same
// size, as long as no member has died.
func (m *model) checkCopies(p *proc, l Label) {
	for _, q := range p.base.members {
		if !q.alive {
			return
		}
	}
	if p.body.plan.Source != FromMemory || p.body.plan.Size != p.body.size {
		return
	}
	m.nodeDied = false
	for r, q := range p.base.members {
		if _, has := m.find(q, l, r); !has {
			m.violate("V6: after Protect p%d has no part of %v", q.id, l)
		}
		for owner := range keptBy(p.world.layout, r).All() {
			if !m.received(p.world.layout, q, l, owner) {
				m.violate("V6: after Protect p%d has nothing of rank %d's part of %v", q.id, owner, l)
			}
		}
	}
}

// promise records a version whose Commit returned OK.
func (m *model) promise(p *proc, l Label) {
	switch {
	case m.promised.Less(l):
		m.promised = l
		m.promisers = map[*proc]bool{p: true}
	case m.promised == l:
		m.promisers[p] = true
	}
}

// checkValues checks V3: at one step of one attempt all ranks have one value.
func (m *model) checkValues() {
	seen := map[string]uint64{}
	for _, p := range m.procs {
		if !p.alive || p.base == nil || p.body.phase == bodyNone || p.body.phase == bodyProtect || p.body.phase == bodyWaits || p.body.phase == bodyRestore {
			continue
		}
		key := fmt.Sprint(p.base.id, " ", p.body.step)
		if v, has := seen[key]; has && v != p.body.value {
			m.violate("V3: two values at step %d of the attempt on communicator %d", p.body.step, p.base.id)
		}
		seen[key] = p.body.value
	}
}

// atEnd checks V4: all living processes have ended, in the same way.
func (m *model) atEnd() {
	var first *proc
	for _, p := range m.procs {
		switch {
		case !p.alive:
			continue
		case p.ended == nil:
			m.violate("V4: p%d is left in state %d", p.id, p.world.State())
		case first == nil:
			first = p
		case p.ended.End != first.ended.End:
			m.violate("V4: p%d ends with %v, p%d with %v", first.id, first.ended.End, p.id, p.ended.End)
		}
		if p.ended != nil && p.ended.End == Done && p.body.step != m.setup.steps {
			m.violate("V4: p%d is done at step %d", p.id, p.body.step)
		}
	}
	if first != nil && m.broken == "" && first.ended.End == Done {
		for _, q := range first.base.members {
			if q.base != first.base || q.body.step != m.setup.steps {
				m.violate("V4: all are done, but p%d died at step %d", q.id, q.body.step)
			}
		}
	}
	if first != nil && m.broken == "" {
		m.checkEnding(first.ended.End)
	}
}

// checkEnding checks that the schedule can end in this way.
func (m *model) checkEnding(e Ending) {
	s := m.setup
	possible := e == Done && s.fatal < 0 ||
		e == Peer && (s.fatal >= 0 || m.excused) ||
		e == Stopped && s.stop >= 0 ||
		e == TooFew && s.cfg.Shortage != ShortageShrink && s.spare < len(s.kills)+s.n ||
		e == NoProgress && s.cfg.Tries == 1
	if e == Done && s.fatal >= 0 {
		possible = !m.procs[s.fatal].alive // it died before it could fail
	}
	if !possible {
		m.violate("V4: all end with %v", e)
	}
}
