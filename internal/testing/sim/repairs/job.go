package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// The time for which a request waits for slots that other processes may release, the time for which
// it waits for slots that the requester itself holds, and the interval of the launcher's polls. See
// package launch.
const (
	slotsMax  = 10 * mono.Millisecond
	slotsOwn  = 2 * mono.Millisecond
	slotsPoll = 200 * mono.Microsecond
)

// launcher hosts the rules of the job.
type launcher struct {
	run   *repairRun
	rules *job.Rules
	asked map[uint64]mono.Time // arrival time of each request, by its token
	keep  invitation           // the last invitation
}

// invitation is the message to replacements: the members of the new communicator.
type invitation struct {
	first    int // number of the first replacement
	group    commstate.Group
	handover []byte
}

func (l *launcher) init(r *repairRun) {
	l.run, l.asked = r, map[uint64]mono.Time{}
	l.rules = job.New(job.Config{Ranks: r.n, Procs: r.setup.universe, Survive: job.SurviveAny})
}

// begin starts the ranks.
func (l *launcher) begin() {
	n := l.run.n
	for slot := range n {
		l.run.newWorker(slot, 0, 0, n).forked = true
		l.step(job.Forked{Proc: slot})
		l.step(job.Joined{Proc: slot})
	}
	for _, w := range slices.Clone(l.run.slots) {
		w.drive.openFirst()
	}
}

func (l *launcher) step(ev job.Event) {
	l.run.traceEvent(nil, ev)
	for _, a := range slices.Clone(l.rules.Step(ev)) {
		l.run.traceEvent(nil, a)
		l.do(a, ev)
	}
}

func (l *launcher) do(a job.Action, ev job.Event) {
	r := l.run
	switch a := a.(type) {
	case job.Declare:
		l.declare(r.slots[job.SlotOf(a.Proc)])
	case job.Kill:
		r.slots[job.SlotOf(a.Proc)].die()
	case job.Start:
		l.start(a)
	case job.Answer:
		if a.Why != "" {
			r.report.Refused++
			r.check.refused(r.slots[job.SlotOf(a.Root)], a)
		}
		w := r.slots[job.SlotOf(a.Root)]
		r.plan(r.delay(), func() { w.happen(func() { w.drive.granted(a) }) })
	case job.PassKeep:
		l.invite(a)
	case job.Postpone:
		asked := ev.(job.Wanted)
		r.plan(slotsPoll, func() { l.look(asked) })
	}
}

// want handles a request for processes.
func (l *launcher) want(ev job.Wanted) {
	begun := l.run.now
	ev.Vacant = l.vacant()
	l.asked[ev.Token] = begun
	l.step(ev)
}

// look repeats a postponed request.
func (l *launcher) look(ev job.Wanted) {
	waited := l.run.now.Sub(l.asked[ev.Token])
	ev.Vacant, ev.Last = l.vacant(), waited > slotsMax
	if waited > slotsOwn {
		ev.Kept = l.heldBy(l.run.slots[job.SlotOf(ev.Root)])
	}
	l.step(ev)
}

// vacant returns the slots of reaped processes that all others have let go of.
func (l *launcher) vacant() (slots []int) {
	for slot, w := range l.run.slots {
		if w.reaped && w.declared && len(l.holders(w)) == 0 {
			slots = append(slots, slot)
		}
	}
	return slots
}

// holders returns the processes that may refer to a dead one. A process that waits to be kept may
// refer to all.
func (l *launcher) holders(dead *worker) (by []*worker) {
	for _, w := range l.run.slots {
		if !w.reaped && !w.hasLetGo(dead) {
			by = append(by, w)
		}
	}
	return by
}

func (l *launcher) heldBy(w *worker) (slots []int) {
	for slot, dead := range l.run.slots {
		if dead.reaped && dead.declared && slices.Contains(l.holders(dead), w) {
			slots = append(slots, slot)
		}
	}
	return slots
}

// start starts the processes of a batch, one after the other.
func (l *launcher) start(a job.Start) {
	r := l.run
	for _, slot := range a.Used {
		r.report.Reused++
		r.check.reused(r.slots[slot])
	}
	for slot := a.First; slot < a.First+a.Count; slot++ {
		p, _ := l.rules.Occupant(slot)
		r.newWorker(slot, p.Generation, a.First, a.Count)
	}
	l.startNext(a, a.First)
}

func (l *launcher) startNext(a job.Start, slot int) {
	r := l.run
	if slot == a.First+a.Count {
		return
	}
	r.plan(r.delay(), func() {
		if r.tape.Percent(r.setup.starts) {
			missing := r.slots[slot].name()
			for ; slot < a.First+a.Count; slot++ { // these were never started
				r.slots[slot].gone, r.slots[slot].reaped = true, true
			}
			l.step(job.NotStarted{Proc: missing, Why: "no memory"})
			return
		}
		w := r.slots[slot]
		r.report.Started++
		w.forked = true
		l.step(job.Forked{Proc: w.name()})
		r.plan(r.delay(), func() {
			if !w.gone {
				w.joined = true
				l.step(job.Joined{Proc: w.name()})
			}
		})
		l.startNext(a, slot+1)
	})
}

// invite informs replacements that they are kept.
func (l *launcher) invite(a job.PassKeep) {
	r, what := l.run, l.keep
	for slot := a.First; slot < a.First+a.Count; slot++ {
		w := r.slots[slot]
		r.plan(r.delay(), func() { w.happen(func() { w.drive.openReplacement(what) }) })
	}
}

// lost plans the events after a death: the launcher finds the death, reaps the process, and then
// reads all its messages.
func (l *launcher) lost(w *worker) {
	r := l.run
	found := r.now.Add(r.delay())
	reaped := found.Add(r.delay())
	r.agenda.Plan(found, func() { l.step(job.Found{Proc: w.name(), By: job.ByTombstone, AtNs: int64(r.now)}) })
	r.agenda.Plan(reaped, func() {
		w.reaped = true
		l.step(job.Reaped{Proc: w.name(), Status: job.Status{Signal: 9}})
	})
	r.agenda.Plan(max(reaped, w.said)+1, func() { l.step(job.Heard{Proc: w.name()}) })
}

// declare puts a death into the list that all processes read, each at a time of its own.
func (l *launcher) declare(dead *worker) {
	r := l.run
	dead.declared = true
	r.trace(dead, "is declared dead")
	for _, w := range r.slots {
		if w.rules != nil && !w.gone {
			r.plan(r.newsDelay(), func() { w.happen(func() { w.departed(dead) }) })
		}
	}
}

// delay returns the delay of a message, or of any operation of similar duration.
func (r *repairRun) delay() mono.Duration {
	d := world.MessageDelay/10 + r.tape.Uniform(world.MessageDelay)
	if r.setup.tails && r.tape.Percent(10) {
		d += r.tape.Tail(4 * world.MessageDelay)
	}
	return d
}

func (r *repairRun) newsDelay() mono.Duration { return r.tape.Tail(r.setup.news) }

// say sends a message to the launcher. The launcher also reads messages from before the death of
// their sender.
func (w *worker) say(what func(l *launcher)) {
	w.flush()
	w.report(what)
}

// note is say for a message that waits until the repair is over, as boot.Process.Note: for
// noteWait, or until the next say.
func (w *worker) note(what func(l *launcher)) {
	w.notes = append(w.notes, what)
	if len(w.notes) == 1 {
		w.run.plan(noteWait, func() { w.happen(w.flush) })
	}
}

// noteWait is boot.RepairTime.
const noteWait = 100 * mono.Millisecond

func (w *worker) flush() {
	for _, what := range w.notes {
		w.report(what)
	}
	w.notes = nil
}

func (w *worker) report(what func(l *launcher)) {
	r := w.run
	w.said = max(w.said+1, r.now.Add(r.delay()))
	r.agenda.Plan(w.said, func() { what(&r.launcher) })
}
