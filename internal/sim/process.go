package sim

import (
	"strings"

	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/mono"
)

// process is one simulated process: its rules, its program, its fate.
type process struct {
	id      int
	rules   *control.Control
	program *program
	alarm   mono.Time // when the earliest timer event comes; 0 = none

	ended            bool // died
	left             bool // returned from Finalize
	trap             trap
	slow             bool // what it sends now takes long
	steps, decisions int
}

// running says whether the process still takes steps.
func (p *process) running() bool { return !p.ended && !p.left }

// living says whether its decisions count: it runs, or has left in peace.
func (p *process) living() bool { return !p.ended }

// step gives the rules of p an event, and carries out what they want: all of it,
// or, if p dies in this step, the first few actions.
func (s *simulation) step(p *process, ev control.Event) {
	if !p.running() {
		return
	}
	s.report.Steps++
	acts := p.rules.Step(ev)
	if p.sprung(countDecided(acts)) {
		if s.tape.percent(s.swarm.midStep) {
			acts = acts[:s.tape.below(len(acts)+1)]
		}
		p.slow = s.tape.percent(s.swarm.lastWords)
		var told []int
		for _, a := range acts { // what others may see of it
			switch a := a.(type) {
			case control.Send:
				s.send(p, a)
				told = append(told, a.To)
			case control.Reserved:
				s.check.reserved(p, a)
			}
		}
		s.die(p, told)
		return
	}
	for _, a := range acts {
		s.carryOut(p, a)
	}
	s.setAlarm(p)
}

func countDecided(acts []control.Action) int {
	count := 0
	for _, a := range acts {
		if _, ok := a.(control.Decided); ok {
			count++
		}
	}
	return count
}

func (s *simulation) carryOut(p *process, a control.Action) {
	switch a := a.(type) {
	case control.Send:
		s.send(p, a)
		return
	case control.Declared:
		s.check.declared(p, a)
	case control.Revoked:
		s.check.revoked(p, a)
	case control.Reserved:
		s.check.reserved(p, a)
	case control.Forgotten:
		p.program.forgotten(a)
	case control.Decided:
		s.report.Decisions++
		s.check.decided(p, a)
		p.program.decided(a)
	case control.Fenced:
		s.fail("I6", "process %d is fenced, and it lives: %s", p.id, a.Why)
	case control.Anomaly:
		if s.options.Watchdog > 0 && strings.Contains(a.Text, "was collected") {
			break // a watchdog's repeated request, overtaken by the decision
		}
		s.fail("no anomaly", "process %d about process %d: %s", p.id, a.From, a.Text)
	}
	if s.options.Trace != nil {
		s.trace(p.id, "%T %+v", a, a)
	}
}

func (s *simulation) send(p *process, a control.Send) {
	s.report.Frames++
	at := s.net.arrival(p.id, a.To, s.now, p.slow)
	s.queue.push(event{at: at, kind: arrival, proc: a.To, other: p.id, frame: a.Frame})
}

// setAlarm makes sure that a timer event comes at the rules' deadline.
func (s *simulation) setAlarm(p *process) {
	at, any := p.rules.Deadline()
	if any && (p.alarm == 0 || at < p.alarm) {
		p.alarm = max(at, s.now)
		s.queue.push(event{at: p.alarm, kind: timer, proc: p.id})
	}
}
