package cluster

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/match"
	"github.com/goulfm/goulfm/internal/protocol/rendezvous"
)

// process is one simulated process: its rules, its program and its faults.
type process struct {
	id      int
	rules   *control.Control
	match   *match.Matcher
	peers   []rendezvous.Peer // by process
	program *program
	alarm   mono.Time // time of the earliest timer event; 0 = none

	ended            bool // died, or was fenced
	endedAt          mono.Time
	left             bool // returned from Finalize
	faults           []Fault
	slow             bool // frames sent now take long
	steps, decisions int
	called           []made // calls of the program

	plain []control.Propose // calls that were entered plainly and are polled
	polls int

	stopped bool             // by a pause
	rest    []control.Action // rest of the step in which it stopped
	backlog []event          // events while it was stopped
}

// running reports whether the process still takes steps.
func (p *process) running() bool { return !p.ended && !p.left }

// living reports whether the decisions of the process count: the process runs, or has left in
// peace.
func (p *process) living() bool { return !p.ended }

// step passes an event to the rules of p, and carries out the resulting actions. If a fault comes
// in this step, only the first few actions are carried out.
func (s *simulation) step(p *process, ev control.Event) {
	if !p.running() {
		return
	}
	s.report.Steps++
	acts := p.rules.Step(ev)
	p.steps++
	p.decisions += countDecided(acts)
	s.check.drew(p, acts)
	for {
		f, any := p.due(acts)
		if !any || s.calm() {
			break
		}
		s.fired = append(s.fired, f)
		s.report.Faults++
		s.hits(p, f, acts)
		s.lastFault = max(s.lastFault, s.now.Add(f.lasts()))
		switch f.Kind {
		case Crash:
			s.crash(p, f, acts)
			return
		case Pause, Slow:
			kept := f.kept(len(acts))
			p.rest = slices.Clone(acts[kept:])
			s.carryOutAll(p, acts[:kept])
			s.stop(p, f)
			return
		case Partition, Stall:
			s.cut(f)
			s.mark(p.id, markFault, "%v", f)
		}
	}
	s.acting = acts
	s.carryOutAll(p, acts)
	s.acting = nil
	s.setAlarm(p)
	s.poll(p)
}

// lasts returns the duration of a fault.
func (f Fault) lasts() mono.Duration {
	return max(f.For, mono.Duration(f.Times)*(f.For+f.Off))
}

// crash carries out the part of p's last step that others may observe.
func (s *simulation) crash(p *process, f Fault, acts []control.Action) {
	p.slow = f.LastWords
	s.check.diedIn(p, acts)
	var told []int
	for _, a := range acts[:f.kept(len(acts))] {
		switch a := a.(type) {
		case control.Send:
			s.send(p, a)
			told = append(told, a.To)
		case control.Declared:
			s.check.declared(p, a)
		}
	}
	s.die(p, f, told)
}

// stop suspends p. A slow process will stop again.
func (s *simulation) stop(p *process, f Fault) {
	p.stopped = true
	s.mark(p.id, markPause, "%v", f)
	s.queue.push(event{at: s.now.Add(f.For), kind: resume, proc: p.id, other: p.id})
	if f.Kind == Slow && f.Times > 1 {
		f.Times--
		s.queue.push(event{at: s.now.Add(f.For + f.Off), kind: pulse, proc: p.id, other: p.id, again: &f})
	}
}

// resume continues p where it stopped, and then passes on the events since then, in order.
func (s *simulation) resume(p *process) {
	p.stopped = false
	s.mark(p.id, markResume, "goes on")
	rest, backlog := p.rest, p.backlog
	p.rest, p.backlog = nil, nil
	s.carryOutAll(p, rest)
	for i, ev := range backlog {
		if p.stopped {
			p.backlog = append(p.backlog, backlog[i:]...)
			return
		}
		s.give(p, ev)
	}
	s.setAlarm(p)
	s.poll(p)
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

func (s *simulation) carryOutAll(p *process, acts []control.Action) {
	for _, a := range acts {
		s.carryOut(p, a)
	}
}

func (s *simulation) carryOut(p *process, a control.Action) {
	switch a := a.(type) {
	case control.Send:
		s.send(p, a)
		return
	case control.Declared:
		s.check.declared(p, a)
		p.program.declared(a.Proc)
		s.mark(p.id, markDeclare, "declares %d dead", a.Proc)
	case control.Revoked:
		s.check.revoked(p, a)
		p.program.revoked(a.Comm)
		s.mark(p.id, markRevoke, "revoked %d", a.Comm)
	case control.Reserved:
		p.match.Reserve(a.Index)
	case control.Forgotten:
		p.program.forgotten(a)
	case control.Decided:
		s.report.Decisions++
		s.mark(p.id, markDecide, "decides %v/%d", a.Outcome.Call, a.Outcome.Seq)
		s.check.decided(p, a)
		p.program.decided(a)
	case control.Fenced:
		s.fenced(p, a)
	case control.Anomaly:
		if a.From >= 0 && s.check.mayDiffer(a.From, p.id) && s.swarm.detector == Wild {
			break // a process unaware of its own death has communicators of its own (A17)
		}
		s.fail("no anomaly", "process %d about process %d: %s", p.id, a.From, a.Text)
	}
	if s.options.Trace != nil {
		s.trace(p.id, "%T %+v", a, a)
	}
}

// fenced ends a process that the others have declared dead.
func (s *simulation) fenced(p *process, a control.Fenced) {
	if !s.check.accused.Has(p.id) {
		s.fail("I6", "process %d is fenced, and nobody declared it: %s", p.id, a.Why)
	}
	p.ended, p.endedAt = true, s.now
	s.report.Fenced++
	s.mark(p.id, markDeath, "is fenced")
}

func (s *simulation) send(p *process, a control.Send) {
	s.report.Frames++
	at := s.net.arrival(controlLane, p.id, a.To, s.now, p.slow)
	s.post(p, event{at: at, kind: arrival, proc: a.To, other: p.id, frame: a.Frame})
}

// post puts a frame on the way, and checks that few are there. A slow process holds up the
// agreements, and therefore the senders (I14). A watchdog continues to send, so runs with a
// watchdog are exempt.
func (s *simulation) post(p *process, ev event) {
	if open := s.net.link(p.id, ev.proc).lanes[ev.lane()].open; open > openMax && s.options.Watchdog == 0 {
		s.fail("I14", "%d frames are on the way from %d to %d", open, p.id, ev.proc)
	}
	if ev.at.Sub(s.now) > late {
		s.hit(p, lateFrame, s.acting)
	}
	s.queue.push(ev)
	s.options.Diagram.sent(s.now, ev)
}

// setAlarm ensures that a timer event comes at the deadline of the rules.
func (s *simulation) setAlarm(p *process) {
	at, any := p.rules.Deadline()
	if any && (p.alarm == 0 || at < p.alarm) {
		p.alarm = max(at, s.now)
		s.queue.push(event{at: p.alarm, kind: timer, proc: p.id, other: p.id})
	}
}
