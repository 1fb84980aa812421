package repairs

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/commstate"
	"github.com/goulfm/goulfm/internal/protocol/control"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// A worker is one process of a run of repairs. Its number is never reused. Its slot may be.
type worker struct {
	run              *repairRun
	number           int
	slot, generation int
	first, count     int // of the batch, which is its own world
	node             int
	rules            *control.Control // nil: the process waits in Init until it is kept
	met              []control.Event  // pending events while the rules take a step
	stepping         bool
	comms            map[uint32]*line
	early            map[uint32][]letter // for communicators that do not exist here yet
	calls            map[uint64]func(commstate.Outcome)
	token            uint64
	links            []track // by slot
	said             mono.Time
	notes            []func(l *launcher) // notes that wait for the end of a repair
	letGo            []int               // by slot: the released generation, plus one
	knows            rankset.Set
	forked, joined   bool
	gone             bool // the process is dead, or its start failed
	declared, reaped bool
	stalled          bool
	backlog          []func() // events while the worker was stalled
	waiting          []func() // events before the worker was opened
	drive            *driver
}

// track is the path to another process.
type track struct {
	to     *worker
	latest mono.Time // arrival
	cut    mono.Time // later arrivals are lost; 0 = none
}

// A line is a communicator as one worker holds it.
type line struct {
	group   commstate.Group
	members []*worker
	revoked bool
	inbox   map[messageKey]any
	ops     int // exchanges and moves so far, the same at all members
}

// names returns the numbers of the members' processes in the job.
func (l *line) names() (all []int) {
	for _, w := range l.members {
		all = append(all, w.name())
	}
	return all
}

// name returns the number of the process in the job.
func (w *worker) name() int { return job.NumberOf(w.slot, w.generation) }

// messageKey identifies a letter on a communicator: its operation, the step of the operation, and
// the sender.
type messageKey struct {
	what     string
	op, step int
	from     int
}

type letter struct {
	key  messageKey
	what any
}

func (r *repairRun) newWorker(slot, generation, first, count int) *worker {
	w := &worker{run: r, number: len(r.workers), slot: slot, generation: generation, first: first, count: count, node: slot % r.setup.nodes,
		comms: map[uint32]*line{}, early: map[uint32][]letter{}, calls: map[uint64]func(commstate.Outcome){},
		links: make([]track, r.setup.universe), letGo: make([]int, r.setup.universe)}
	w.drive = &driver{worker: w}
	w.drive.desk.driver = w.drive
	r.workers = append(r.workers, w)
	if slot == len(r.slots) {
		r.slots = append(r.slots, w)
	}
	r.slots[slot] = w
	return w
}

// happen applies an event to a worker: not if the worker is dead, and later if the worker is
// stalled.
func (w *worker) happen(do func()) {
	switch r := w.run; {
	case w.gone:
	case w.stalled:
		w.backlog = append(w.backlog, do)
	default:
		r.hash.Add(uint64(w.number))
		do()
	}
}

// later continues the worker at once or after a delay.
func (w *worker) later(do func()) {
	r := w.run
	if r.tape.Percent(50) {
		r.plan(r.tape.Uniform(world.MessageDelay), func() { w.happen(do) })
		return
	}
	r.plan(0, func() { w.happen(do) })
}

// stall stops a worker for a while.
func (w *worker) stall() {
	r := w.run
	w.stalled = true
	r.trace(w, "stalls")
	r.plan(r.tape.Tail(20*world.MessageDelay), func() {
		w.stalled = false
		backlog := w.backlog
		w.backlog = nil
		for i, do := range backlog {
			if w.stalled {
				w.backlog = append(w.backlog, backlog[i:]...)
				return
			}
			w.happen(do)
		}
	})
}

// open makes the rules of a worker.
func (w *worker) open(cfg control.Config) {
	cfg.N, cfg.Me, cfg.Slots, cfg.Detector = w.run.setup.universe, w.slot, true, fd.Config{Mode: fd.Exact}
	for p := w.first; p < w.first+w.count; p++ {
		cfg.World = append(cfg.World, p)
	}
	cfg.Generation = uint32(w.run.slots[w.first].generation)
	w.rules = control.New(cfg)
	w.adopt(control.WorldGroup(cfg.N, cfg.Me, cfg.World, cfg.Generation))
	if cfg.Union != nil {
		w.adopt(*cfg.Union)
	}
	w.meet()
	backlog := w.waiting
	w.waiting = nil
	for _, do := range backlog {
		w.happen(do)
	}
}

// meet begins the life of a process in the job: the rules learn of the departed among its members,
// and let go of all other departed.
func (w *worker) meet() {
	for _, dead := range w.run.slots {
		switch {
		case !dead.declared || dead == w:
		case w.refersTo(dead):
			w.departed(dead)
		default:
			w.knows.Add(dead.number)
			w.letGo[dead.slot] = dead.generation + 1
		}
	}
}

// recall informs the rules of deaths of replacements from before their communicator was made. No
// communicator referred to them when the notices arrived, so the rules forgot these deaths. See
// package engine.
func (w *worker) recall(from, made *line) {
	for _, m := range made.members {
		if m.declared && !slices.Contains(from.members, m) {
			w.letGo[m.slot] = m.generation
			w.knows.Remove(m.number)
			w.departed(m)
		}
	}
}

func (w *worker) refersTo(other *worker) bool {
	for _, l := range w.comms {
		if slices.Contains(l.members, other) {
			return true
		}
	}
	return false
}

func (w *worker) hasLetGo(dead *worker) bool { return w.letGo[dead.slot] == dead.generation+1 }

// adopt begins to use a communicator.
func (w *worker) adopt(g commstate.Group) *line {
	l := &line{group: g, inbox: map[messageKey]any{}}
	for _, p := range g.Procs {
		l.members = append(l.members, w.run.slots[p])
	}
	w.comms[g.Index] = l
	for _, m := range w.early[g.Index] {
		l.inbox[m.key] = m.what
	}
	delete(w.early, g.Index)
	return l
}

// departed informs the rules of a death.
func (w *worker) departed(dead *worker) {
	if w.knows.Add(dead.number) {
		w.step(control.Exited{Proc: dead.slot})
	}
}

// step passes an event to the rules, and carries out the resulting actions. If the worker dies in
// this step, only the first few frames are sent.
func (w *worker) step(ev control.Event) {
	w.met = append(w.met, ev)
	if w.stepping {
		return
	}
	w.stepping = true
	for i := 0; i < len(w.met) && !w.gone; i++ {
		w.run.report.Steps++
		acts := w.rules.Step(w.met[i])
		if w.run.strikes(w) {
			w.lastWords(acts)
			w.die()
			break
		}
		for _, a := range acts {
			if w.gone {
				break
			}
			w.carryOut(a)
		}
		if w.run.tape.Below(1000) < w.run.setup.stalls && !w.stalled && !w.gone {
			w.stall()
		}
	}
	w.met = w.met[:0]
	w.stepping = false
}

// lastWords sends the frames that leave in the last step.
func (w *worker) lastWords(acts []control.Action) {
	r, n := w.run, len(acts)
	if r.tape.Percent(r.setup.midStep) {
		n = r.tape.Below(n + 1)
	}
	for _, a := range acts[:n] {
		if s, is := a.(control.Send); is {
			w.carryOut(s)
		}
	}
}

func (w *worker) carryOut(a control.Action) {
	r := w.run
	switch a := a.(type) {
	case control.Send:
		w.sendFrame(r.slots[a.To], a.Frame)
	case control.Revoked:
		l := w.comms[a.Comm]
		if l == nil {
			return
		}
		r.trace(w, "learns that %d is revoked", a.Comm)
		l.revoked = true
		w.drive.heardRevocation(l)
	case control.Forgotten:
		delete(w.comms, a.Index)
		delete(w.early, a.Index)
	case control.Decided:
		then := w.calls[a.Token]
		delete(w.calls, a.Token)
		if r.options.Trace != nil {
			r.trace(w, "gets %v", a.Outcome)
		}
		if then != nil {
			then(a.Outcome)
		}
	case control.LetGo:
		w.letGo[a.Proc] = r.slots[a.Proc].generation + 1
	case control.Fenced:
		r.fail("A24", "process %d is fenced though all deaths are exact: %s", w.number, a.Why)
	case control.Anomaly:
		r.fail("no anomaly", "process %d about slot %d: %s", w.number, a.From, a.Text)
	}
}

// call takes part in a call on a communicator.
func (w *worker) call(l *line, ev control.Propose, then func(commstate.Outcome)) {
	w.token++
	ev.Comm, ev.Token = l.group.Index, w.token
	w.calls[w.token] = then
	if w.run.options.Trace != nil {
		w.run.trace(w, "calls %v on %d %v", ev.Call, l.group.Index, l.group.Procs)
	}
	w.step(ev)
}

func (w *worker) sendFrame(to *worker, frame []byte) {
	w.post(to, func() {
		if to.letGo[w.slot] <= w.generation { // otherwise the frame is of an earlier process of the slot
			to.step(control.Receive{From: w.slot, Frame: frame})
		}
	})
}

// send sends a message to a member of a communicator. The result is false if the communicator is
// revoked, or if the worker dies in the send.
func (w *worker) send(l *line, rank int, key messageKey, what any) bool {
	if w.run.strikes(w) {
		w.die()
	}
	if l.revoked || w.gone {
		return false
	}
	to, index := l.members[rank], l.group.Indices[rank]
	key.from = l.group.Me
	w.post(to, func() { to.arrived(index, letter{key, what}) })
	return true
}

func (w *worker) arrived(index uint32, m letter) {
	l := w.comms[index]
	switch {
	case l != nil:
		l.inbox[m.key] = m.what
		w.drive.look(l, m.key)
	case w.rules.State(index) == control.Pending:
		w.early[index] = append(w.early[index], m)
	}
}

// post puts an item on the way to another worker, behind all earlier ones.
func (w *worker) post(to *worker, do func()) {
	r, x := w.run, &w.links[to.slot]
	if x.to != to {
		*x = track{to: to}
	}
	x.latest = max(x.latest+1, r.now.Add(r.delay()))
	at := x.latest
	r.agenda.Plan(at, func() {
		switch {
		case w.gone && x.to == to && x.cut > 0 && at > x.cut:
		case to.rules == nil && !to.gone:
			to.waiting = append(to.waiting, do)
		default:
			to.happen(do)
		}
	})
}

// die ends a worker.
func (w *worker) die() {
	if w.gone {
		return
	}
	r := w.run
	r.trace(w, "dies")
	w.gone = true
	if a := w.drive.att; w.drive.busy == "restore" && a.run.Attempt > 1 {
		r.report.Restoring++
	}
	w.drive.desk.leaveTorn()
	if r.tape.Percent(r.setup.loses) {
		for i := range w.links {
			if left := w.links[i].latest.Sub(r.now); left > 0 {
				w.links[i].cut = r.now.Add(r.tape.UpTo(left + 1))
			}
		}
	}
	r.check.died(w)
	r.launcher.lost(w)
}

func (w *worker) describe() string {
	text := fmt.Sprintf("process %d in slot %d: ", w.number, w.slot)
	if w.rules == nil {
		return text + fmt.Sprintf("waits to be kept (forked %v, joined %v)\n", w.forked, w.joined)
	}
	text += fmt.Sprintf("world in state %d, busy %q, stalled %v\n", w.drive.world.State(), w.drive.busy, w.stalled)
	return text + w.rules.Describe()
}
