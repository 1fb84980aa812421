package cluster

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// FaultKind is the kind of a fault.
type FaultKind uint8

// The kinds of faults.
const (
	Crash     FaultKind = iota // the process ends for ever
	Pause                      // the process stops, and continues after For
	Slow                       // the process stops for For, continues for Off, and so on, Times times
	Partition                  // frames from outside Peers to Peers are held back for For; also the reverse, unless OneWay
	Stall                      // frames from the process to Peers are held back for For
)

func (k FaultKind) String() string {
	return [...]string{"crash", "pause", "slow", "partition", "stall"}[k]
}

// Fault is one planned fault. The fault happens in a step of Proc, once.
type Fault struct {
	Kind     FaultKind
	Proc     int
	Step     int // the step of Proc in which the fault happens, counted from 1; 0 = see Decision
	After    int // Step is counted from the After-th call of the program of Proc
	Decision int // the fault happens in the step with this decision of Proc

	Mid       bool // crash, pause: wait for a step that sends two frames, and strike between two
	Part      int  // crash, pause: number of thousandths of the step's actions that come before the fault
	Lose      bool // crash: part of the frames on the way is lost
	LastWords bool // crash: frames sent in the step are very slow
	Cascaded  bool // crash: caused by another crash

	For, Off mono.Duration
	Times    int
	Peers    uint64 // set of processes
	OneWay   bool

	call, since int // when the fault happened: the same as After and Step, with the latest call
}

// planFaults draws the faults of the run. At least one process never crashes.
func (s *simulation) planFaults() {
	t := s.tape.Fork(forFaults, 0, 0)
	n := s.swarm.n
	victims := t.Perm(n)
	if t.Percent(40) { // the root and its heirs
		for i := range victims {
			victims[i] = i
		}
	}
	for _, p := range victims[:min(s.swarm.deaths, n-1)] {
		s.plan(s.drawCrash(&t, p))
	}
	s.spared = victims[n-1]
	stopped := t.Perm(n) // within the limits of a ring no process stops for two reasons
	for i := range min(s.swarm.pauses+s.swarm.slows, n) {
		f := Fault{Kind: Pause, Proc: stopped[i], Step: s.drawStep(&t), Part: 1000, For: s.drawSpan(&t, pauseMax)}
		if t.Percent(s.swarm.midStep) {
			f.Part, f.Mid = t.Below(1000), t.Percent(50)
		}
		if i >= s.swarm.pauses {
			f.Mid = false
			f.Kind, f.Part, f.Off, f.Times = Slow, 1000, world.MessageDelay+t.UpTo(40*world.MessageDelay), t.Between(3, 20)
			f.For = min(f.For, timeout)
		}
		s.plan(f)
	}
	for range s.swarm.partitions {
		peers := t.Next() & (1<<n - 1)
		if t.Percent(40) { // one process alone
			peers = 1 << t.Below(n)
		}
		proc := t.Below(n)
		s.plan(Fault{Kind: Partition, Proc: proc, Step: s.drawStep(&t), For: s.drawSpan(&t, delayMax), Peers: peers &^ (1 << proc), OneWay: t.Percent(50)})
	}
	for range s.swarm.stalls {
		proc := t.Below(n)
		s.plan(Fault{Kind: Stall, Proc: proc, Step: s.drawStep(&t), For: s.drawSpan(&t, delayMax), Peers: 1 << ((proc + t.Between(1, n-1)) % n)})
	}
}

func (s *simulation) plan(f Fault) {
	p := s.procs[f.Proc]
	p.faults = append(p.faults, f)
}

// drawStep returns the number of a step. A process takes several steps for each agreement, and
// heartbeats add to them.
func (s *simulation) drawStep(t *world.Tape) int {
	steps := t.Between(1, 8*s.swarm.agreements)
	if s.swarm.detector.beats() {
		steps *= 2
	}
	return steps
}

func (s *simulation) drawCrash(t *world.Tape, proc int) Fault {
	f := Fault{Kind: Crash, Proc: proc, Part: 1000, Lose: t.Percent(s.swarm.loses), LastWords: t.Percent(s.swarm.lastWords)}
	if t.Percent(40) {
		f.Decision = t.Between(1, s.swarm.agreements)
	} else {
		f.Step = s.drawStep(t)
	}
	if t.Percent(s.swarm.midStep) {
		f.Part, f.Mid = t.Below(1000), t.Percent(50)
	}
	return f
}

// drawSpan draws the duration of a fault. In Ring runs the bound is most, because more would exceed
// the limits of fd.Config. In Wild runs the bound is up to 6 timeouts, in Exact runs up to 300
// message delays.
func (s *simulation) drawSpan(t *world.Tape, most mono.Duration) mono.Duration {
	switch s.swarm.detector {
	case Ring:
		return world.MessageDelay + t.UpTo(most-world.MessageDelay)
	case Wild:
		return world.MessageDelay + t.UpTo([]mono.Duration{most, timeout, 2 * timeout, 6 * timeout}[t.Below(4)])
	}
	return world.MessageDelay + t.UpTo([]mono.Duration{5 * world.MessageDelay, 30 * world.MessageDelay, 300 * world.MessageDelay}[t.Below(3)])
}

// due returns the fault of p that happens in the step with these actions, and removes the fault
// from the plan.
func (p *process) due(acts []control.Action) (Fault, bool) {
	for i, f := range p.faults {
		if f.Mid && !f.between(acts) {
			continue
		}
		if f.Step > 0 && p.stepsAfter(f.After) >= f.Step || f.Decision > 0 && p.decisions >= f.Decision {
			p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
			if f.After == 0 {
				f.Step = p.steps
			}
			f.Decision, f.call, f.since = 0, len(p.called), p.stepsAfter(len(p.called))
			return f, true
		}
	}
	return Fault{}, false
}

// stepsAfter returns the steps since the k-th call of the program, or a negative number if there
// was no such call yet. Call 0 is the beginning.
func (p *process) stepsAfter(k int) int {
	switch {
	case k == 0:
		return p.steps
	case k > len(p.called):
		return -1
	}
	return p.steps - p.called[k-1].steps
}

// between sets Part so that the fault comes between two frames. The result is false if the step
// sends fewer than two.
func (f *Fault) between(acts []control.Action) bool {
	var sends []int
	for i, a := range acts {
		if _, send := a.(control.Send); send {
			sends = append(sends, i)
		}
	}
	if len(sends) < 2 {
		return false
	}
	kept := sends[1+f.Part*(len(sends)-1)/1001]
	f.Part, f.Mid = (kept*1000+len(acts)-1)/len(acts), false
	return true
}

// kept returns the number of actions of a step before the fault.
func (f Fault) kept(actions int) int { return actions * f.Part / 1000 }

// die ends process p. Without heartbeats each survivor is notified at a time of its own. The list
// told holds the receivers of frames of its last step.
func (s *simulation) die(p *process, f Fault, told []int) {
	p.ended, p.endedAt = true, s.now
	s.report.Deaths++
	s.mark(p.id, markDeath, "dies")
	if f.Lose {
		s.net.lose(p.id, s.now)
	}
	if !s.swarm.detector.beats() {
		s.notify(p.id, notice)
	}
	t := s.tape.Fork(forCascade, s.part.nameOf(p.id), 0)
	if s.options.given == nil && t.Percent(s.swarm.cascade) {
		s.cascade(&t, p.id, told)
	}
}

// notify sends each other process a notice of the end of a process, at a time of its own.
func (s *simulation) notify(proc int, what eventKind) {
	for q := range s.procs {
		if q == proc {
			continue
		}
		t := s.delays.Fork(forNotice, s.part.nameOf(proc), s.part.nameOf(q))
		delay := t.Tail(s.swarm.noticeDelay)
		if s.swarm.detector.beats() { // well before the detector notices its silence
			delay = t.Uniform(world.MessageDelay)
		}
		s.queue.push(event{at: s.now.Add(delay), kind: what, proc: q, other: proc})
	}
}

// cascade plans the death of a relative of p within its next few steps. In the tree over all
// processes a relative is the parent, a child, or the next process in line to be the root. Each
// receiver of p's last frames is a relative, too: one of these frames may be a decision, which then
// dies with its receiver.
func (s *simulation) cascade(t *world.Tape, p int, told []int) {
	relatives := append([]int{(p - 1) / 2, 2*p + 1, 2*p + 2, p + 1}, told...)
	victim := relatives[t.Below(len(relatives))]
	if victim < 0 || victim >= s.swarm.n || victim == s.spared || !s.procs[victim].running() {
		return
	}
	v := s.procs[victim]
	f := s.drawCrash(t, victim)
	f.Step, f.Decision, f.Cascaded = v.steps+t.Between(1, 3), 0, true
	if t.Percent(50) {
		f.Step, f.Decision = 0, v.decisions+1
	}
	s.plan(f)
}

// cut shuts the links that a partition or a stall affects.
func (s *simulation) cut(f Fault) {
	until := s.now.Add(f.For)
	for from := range s.swarm.n {
		for to := range s.swarm.n {
			if f.cuts(from, to) {
				s.net.shut(from, to, until)
			}
		}
	}
}

func (f Fault) cuts(from, to int) bool {
	out, in := f.Peers>>from&1 == 1, f.Peers>>to&1 == 1
	if f.Kind == Stall {
		return from == f.Proc && in
	}
	return !out && in || out && !in && !f.OneWay
}
