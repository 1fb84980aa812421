package mutants

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// detectors is the arena of failure detectors alone, in ring mode and virtual time. It has no
// communicators, so that a run is short. The runs check the promises of fd.Config:
//
//	I2  the run comes to an end: no process ticks for ever at one moment
//	I5  after the last death every survivor knows all the dead within the bound,
//	    and the ring of survivors is closed
//	I6  a process that lives and was not silent for longer than allowed is not
//	    declared dead, whatever happens to others;
//	    a process that is declared dead and lives is fenced; a fenced process does nothing
//	I14 one step sends at most four messages to one process
func detectors(seed uint64, _ Hunt) *failure {
	w := newRing(seed, fd.GoOn)
	w.planFaults()
	w.runUntil(faultsEnd)
	w.runUntil(w.lastFault.Add(w.bound()))
	if w.failure == nil {
		w.final()
	}
	return w.failure
}

// faultsEnd is the end of the time from which the first faults are drawn. A repeated pause may
// begin later.
const faultsEnd = mono.Time(3 * mono.Second)

// ringStepsMax bounds the steps of a run. A correct run stays far below it.
const ringStepsMax = 300_000

// ring is n detectors. Messages between two processes keep their order and take at
// most delayMax.
type ring struct {
	rng      *rand.Rand
	n        int
	cfg      fd.Config
	delayMax mono.Duration

	now     mono.Time
	agenda  eventqueue.Agenda[mono.Time]
	steps   int
	all     []*fd.Detector
	ended   rankset.Set // died
	left    rankset.Set
	fenced  rankset.Set
	doomed  []int         // doomed[p] > 0: p dies at its next step with sends, after doomed[p]-1 of them
	until   []mono.Time   // p is stopped until then
	backlog [][]fd.Event  // events that came while p was stopped
	latest  [][]mono.Time // arrival from i at j
	known   []rankset.Set // declared by p
	island  rankset.Set   // no frame enters or leaves this set
	broken  bool          // connections are reported broken
	absent  rankset.Set   // stopped for longer than accuracy allows
	paused  mono.Duration // sum of the pauses
	deaths  int
	failure *failure

	lastFault mono.Time
}

func newRing(seed uint64, rule fd.Partition) *ring {
	w := &ring{rng: rand.New(rand.NewPCG(seed, 17))}
	w.n = 2 + w.rng.IntN(13)
	w.delayMax = mono.Duration(1+w.rng.IntN(40)) * mono.Millisecond
	w.cfg = fd.Config{Mode: fd.Ring, Fence: true, Partition: rule}.WithDefaults()
	w.doomed, w.until = make([]int, w.n), make([]mono.Time, w.n)
	w.backlog, w.known = make([][]fd.Event, w.n), make([]rankset.Set, w.n)
	for p := range w.n {
		cfg := w.cfg
		cfg.N, cfg.Me = w.n, p
		w.all = append(w.all, fd.New(cfg))
		w.latest = append(w.latest, make([]mono.Time, w.n))
	}
	for p := range w.n {
		w.wake(p)
	}
	return w
}

func (w *ring) plan(at mono.Time, do func()) { w.agenda.Plan(at, do) }

func (w *ring) runUntil(end mono.Time) {
	for w.agenda.Due(end) && w.failure == nil {
		var do func()
		w.now, do = w.agenda.Take()
		do()
	}
	w.now = max(w.now, end)
}

// runs reports whether p makes steps, now or after its pause.
func (w *ring) runs(p int) bool { return !w.ended.Has(p) && !w.left.Has(p) && !w.fenced.Has(p) }

// wake plans the next Tick that p requires.
func (w *ring) wake(p int) {
	at, ok := w.all[p].Deadline()
	if !ok {
		return
	}
	w.plan(max(at, w.now), func() {
		if still, ok := w.all[p].Deadline(); ok && still == at && w.now >= w.until[p] {
			w.step(p, fd.Tick{Now: w.now})
		}
	})
}

// deliver steps p with an event, after its pause if p is stopped.
func (w *ring) deliver(p int, ev fd.Event) {
	if w.now < w.until[p] {
		w.backlog[p] = append(w.backlog[p], ev)
		return
	}
	w.step(p, ev)
}

// step steps p with an event, and executes the resulting actions.
func (w *ring) step(p int, ev fd.Event) {
	if !w.runs(p) || w.failure != nil {
		return
	}
	if w.steps++; w.steps > ringStepsMax {
		w.fail("I2", "no end after %d steps", ringStepsMax)
		return
	}
	sends := make([]int, w.n)
	total := 0
	for _, a := range slices.Clone(w.all[p].Step(ev)) {
		switch a := a.(type) {
		case fd.Send:
			if w.doomed[p] > 0 && total == w.doomed[p]-1 {
				w.kill(p)
				return
			}
			total++
			sends[a.To]++
			w.send(p, a.To, a.Msg)
		case fd.Declare:
			w.declared(p, a)
		case fd.Fenced:
			w.fence(p)
			return
		case fd.Anomaly:
			w.fail("no anomaly", "process %d about %d: %s", p, a.From, a.Text)
		}
	}
	if most := slices.Max(sends); most > 4 {
		w.fail("I14", "process %d sends %d messages to one process in one step", p, most)
	}
	w.wake(p)
}

func (w *ring) send(from, to int, msg []byte) {
	at := max(w.latest[from][to], w.now.Add(mono.Duration(w.rng.Int64N(int64(w.delayMax)+1))))
	w.latest[from][to] = at
	w.plan(at, func() {
		if w.island.Has(from) == w.island.Has(to) {
			w.deliver(to, fd.Receive{From: from, Msg: msg})
		}
	})
}

func (w *ring) declared(p int, a fd.Declare) {
	if !w.known[p].Add(a.Rank) {
		w.fail("I6", "process %d declares %d twice", p, a.Rank)
	}
	if !w.ended.Has(a.Rank) && !w.fenced.Has(a.Rank) && !w.absent.Has(a.Rank) && w.island.Has(p) == w.island.Has(a.Rank) {
		w.fail("I6", "at %v process %d declares %d by %v, which lives", mono.Duration(w.now), p, a.Rank, a.Evidence)
	}
}

func (w *ring) fence(p int) {
	w.fenced.Add(p)
	if !w.absent.Has(p) && w.island.IsEmpty() {
		w.fail("I6", "process %d is fenced and was not silent for longer than allowed", p)
	}
	w.deaths++
	w.lastFault = w.now
}

func (w *ring) fail(invariant, format string, args ...any) {
	if w.failure == nil {
		w.failure = &failure{invariant, fmt.Sprintf(format, args...)}
	}
}

// bound is the time after the last fault in which all survivors must know all the dead: one
// detection after the other, as stated with fd.Config, and one message per hop.
func (w *ring) bound() mono.Duration {
	c := w.cfg
	each := c.Period + 2*c.Timeout + c.Confirm
	return w.delayMax + mono.Duration(w.deaths)*each + mono.Duration(w.n)*w.delayMax + w.paused
}

// final checks I5, and the half of I6 that takes time: a process that was declared dead and
// lived has learnt of its declaration.
func (w *ring) final() {
	gone := w.ended.Clone()
	gone.Union(w.left)
	gone.Union(w.fenced)
	for p := range w.n {
		if gone.Has(p) {
			continue
		}
		for q := range w.n {
			if !gone.Has(q) && w.known[q].Has(p) {
				w.fail("I6", "process %d is declared dead by %d and continues", p, q)
			}
		}
		dead := w.known[p].Clone()
		dead.Union(w.left)
		if !dead.Equal(gone) {
			w.fail("I5", "process %d knows %v as dead or left, instead of %v", p, dead, gone)
		}
		if e, o := w.all[p].Emitter(), w.all[p].Observer(); w.failure == nil && (e != w.near(p, -1, gone) || o != w.near(p, 1, gone)) {
			w.fail("I5", "process %d observes %d and is observed by %d; dead or left are %v of %d", p, e, o, gone, w.n)
		}
	}
}

// near returns the next process on the ring that still runs, or -1 if there is none.
func (w *ring) near(p, step int, gone rankset.Set) int {
	for q := (p + step + w.n) % w.n; q != p; q = (q + step + w.n) % w.n {
		if !gone.Has(q) {
			return q
		}
	}
	return -1
}
