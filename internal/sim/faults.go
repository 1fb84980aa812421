package sim

// trap is a planned death: the process dies in the step in which it fires, after
// some of that step's actions.
type trap struct {
	steps     int // fires at this step of the process, counted from 1; 0 = not by steps
	decisions int // fires at this decision of the process; 0 = not by decisions
}

// setTraps plans the deaths of the run. At least one process is never trapped.
func (s *simulation) setTraps() {
	victims := s.tape.r.Perm(s.swarm.n)
	if s.tape.percent(40) { // the root and its heirs
		for i := range victims {
			victims[i] = i
		}
	}
	for _, p := range victims[:min(s.swarm.deaths, s.swarm.n-1)] {
		s.procs[p].trap = s.drawTrap()
	}
	s.spared = victims[s.swarm.n-1]
}

func (s *simulation) drawTrap() trap {
	if s.tape.percent(40) {
		return trap{decisions: s.tape.between(1, s.swarm.agreements)}
	}
	return trap{steps: s.tape.between(1, 8*s.swarm.agreements)}
}

// sprung says whether p dies in the step that gave these many decisions.
func (p *process) sprung(decisions int) bool {
	p.steps++
	p.decisions += decisions
	t := p.trap
	return t.steps > 0 && p.steps >= t.steps || t.decisions > 0 && p.decisions >= t.decisions
}

// die ends process p. Each survivor hears of it at a time of its own. told are
// the processes that it sent something in its last step.
func (s *simulation) die(p *process, told []int) {
	p.ended = true
	s.report.Deaths++
	s.trace(p.id, "dies")
	if s.tape.percent(s.swarm.loses) {
		s.net.lose(p.id, s.now)
	}
	for q := range s.procs {
		if q != p.id {
			s.queue.push(event{at: s.now.Add(s.noticeDelay()), kind: notice, proc: q, other: p.id})
		}
	}
	if s.tape.percent(s.swarm.cascade) {
		s.cascade(p.id, told)
	}
}

// cascade plans the death of a relative of p within its next few steps: in the
// tree over all processes, the next one in line to be the root, or one that p told
// something last - maybe a decision, which then dies with it.
func (s *simulation) cascade(p int, told []int) {
	relatives := append([]int{(p - 1) / 2, 2*p + 1, 2*p + 2, p + 1}, told...)
	victim := relatives[s.tape.below(len(relatives))]
	if victim < 0 || victim >= s.swarm.n || victim == s.spared || s.procs[victim].ended || s.procs[victim].left {
		return
	}
	v := s.procs[victim]
	v.trap = trap{steps: v.steps + s.tape.between(1, 3)}
	if s.tape.percent(50) {
		v.trap = trap{decisions: v.decisions + 1}
	}
}
