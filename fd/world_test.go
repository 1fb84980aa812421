package fd

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A world is n detectors in virtual time. Messages between two processes keep their
// order and take at most delayMax. Processes are killed, also after some of the sends
// of a step, or stopped for a while.
type world struct {
	rng      *rand.Rand
	cfg      Config
	delayMax mono.Duration // τ
	exact    bool          // every message takes exactly delayMax
	eager    bool          // a Tick follows every message, so that the detectors know the time

	now     mono.Time
	agenda  eventqueue.Agenda[mono.Time]
	all     []*Detector
	crashed rankset.Set
	fenced  rankset.Set
	doomed  []int         // doomed[p] > 0: p dies at its next step with sends, after doomed[p]-1 of them
	stopped []bool        // stopped[p]: its events wait in backlog[p]
	backlog [][]Receive   // messages received while stopped
	lastIn  [][]mono.Time // lastIn[from][to]: the latest arrival so far, which keeps the order

	deaths        []int               // in order
	lastDeath     mono.Time           // when
	declared      []map[int]mono.Time // declared[p][r]: when p declared r
	detections    map[int]int         // how many declared r by silence
	messages      int
	anybody       rankset.Set // declared by anybody
	perPeerMax    int         // most sends to one process in one step
	problem       error       // the first thing that must not happen
	wrongful      bool        // live processes may be declared: they were stopped for too long
	calm          bool        // nobody alive may even be suspected: delays are short and nobody stops
	spared        int         // never dies and never stops; -1 for none
	cut           rankset.Set // messages between these and the others are lost
	loss          float64     // probability that a numbered heartbeat is lost
	lossOfRequest float64     // the same, of a NEWOBSERVER
	mortal        rankset.Set // may die in the step in which they declare a death by silence, before any send
}

func newWorld(rng *rand.Rand, n int, delayMax mono.Duration, cfg Config) *world {
	w := &world{
		rng: rng, cfg: cfg, delayMax: delayMax, eager: rng.IntN(2) == 0,
		doomed: make([]int, n), stopped: make([]bool, n), backlog: make([][]Receive, n),
		detections: map[int]int{}, spared: -1,
	}
	for me := range n {
		cfg.N, cfg.Me = n, me
		w.all = append(w.all, New(cfg))
		w.lastIn = append(w.lastIn, make([]mono.Time, n))
		w.declared = append(w.declared, map[int]mono.Time{})
	}
	w.cfg = w.all[0].cfg
	for me := range n {
		w.wake(me)
	}
	return w
}

func (w *world) plan(at mono.Time, do func()) { w.agenda.Plan(at, do) }

// runUntil lets time pass. It stops at the first problem.
func (w *world) runUntil(end mono.Time) {
	for w.agenda.Due(end) && w.problem == nil {
		var do func()
		w.now, do = w.agenda.Take()
		do()
	}
	w.now = end
}

func (w *world) acts(p int) bool { return !w.crashed.Has(p) && !w.fenced.Has(p) }

// wake plans the Tick that p asks for.
func (w *world) wake(p int) {
	at, ok := w.all[p].Deadline()
	if !ok {
		return
	}
	w.plan(max(at, w.now), func() {
		if still, ok := w.all[p].Deadline(); ok && still == at && w.acts(p) && !w.stopped[p] {
			w.tick(p)
		}
	})
}

func (w *world) tick(p int) {
	w.step(p, Tick{Now: w.now})
	if at, ok := w.all[p].Deadline(); ok && at <= w.now && w.acts(p) {
		w.fail("%d ticked at %v wants to tick at %v", p, w.now, at)
	}
}

func (w *world) receive(p int, ev Receive) {
	switch {
	case !w.acts(p):
	case w.stopped[p]:
		w.backlog[p] = append(w.backlog[p], ev)
	default:
		w.step(p, ev)
		if w.eager && w.acts(p) {
			w.tick(p)
		}
	}
}

// step applies an event at p and executes the actions.
func (w *world) step(p int, ev Event) {
	if !w.acts(p) {
		return
	}
	sends, perPeer := 0, map[int]int{}
	for _, a := range slices.Clone(w.all[p].Step(ev)) {
		if w.crashed.Has(p) {
			return
		}
		switch a := a.(type) {
		case Send:
			if w.doomed[p] > 0 && sends == w.doomed[p]-1 {
				w.kill(p)
				return
			}
			sends++
			perPeer[a.To]++
			w.perPeerMax = max(w.perPeerMax, perPeer[a.To])
			w.send(p, a.To, a.Msg)
		case Declare:
			w.declare(p, a)
			if a.Evidence == BySilence && w.mortal.Has(p) {
				w.kill(p)
				return
			}
			if sends > 0 {
				w.fail("%d declared %d after a send", p, a.Rank)
			}
		case Suspect:
			if w.calm && !w.crashed.Has(a.Rank) {
				w.fail("at %v %d suspected %d, which lives", mono.Duration(w.now), p, a.Rank)
			}
		case Fenced:
			w.fenced.Add(p)
			if !w.anybody.Has(p) && !a.Minority {
				w.fail("%d is fenced, nobody declared it", p)
			}
		case Anomaly:
			w.fail("%d: anomaly from %d: %s", p, a.From, a.Text)
		}
	}
	w.checkRing(p)
	w.wake(p)
}

func (w *world) declare(p int, a Declare) {
	if _, again := w.declared[p][a.Rank]; again {
		w.fail("%d declared %d twice", p, a.Rank)
	}
	w.declared[p][a.Rank] = w.now
	w.anybody.Add(a.Rank)
	if a.Evidence == BySilence {
		w.detections[a.Rank]++
	}
	if !w.crashed.Has(a.Rank) && !w.wrongful {
		w.fail("at %v %d declared %d, which lives", mono.Duration(w.now), p, a.Rank)
	}
}

func (w *world) send(from, to int, msg []byte) {
	w.messages++
	if w.cut.Has(from) != w.cut.Has(to) || w.loses(msg) {
		return
	}
	delay := w.delayMax
	if !w.exact {
		delay = mono.Duration(w.rng.Int64N(int64(w.delayMax) + 1))
	}
	at := max(w.now.Add(delay), w.lastIn[from][to])
	w.lastIn[from][to] = at
	w.plan(at, func() { w.receive(to, Receive{From: from, Msg: msg}) })
}

// loses reports whether a message of Config.Adaptive is lost.
func (w *world) loses(msg []byte) bool {
	m, err := parseMessage(msg)
	if err != nil || m.told == nil {
		return false
	}
	switch m.told.(type) {
	case adaptive.Beat:
		return w.rng.Float64() < w.loss
	case adaptive.Adjust:
		return w.rng.Float64() < w.lossOfRequest
	}
	return false
}

func (w *world) kill(p int) {
	if w.crashed.Add(p) {
		w.deaths = append(w.deaths, p)
		w.lastDeath = w.now
	}
}

// stop freezes p for a while. On resuming, p first reads and then checks the clock, or the other
// way round.
func (w *world) stop(p int, pause mono.Duration) {
	if w.stopped[p] || !w.acts(p) || p == w.spared {
		return
	}
	w.stopped[p] = true
	w.plan(w.now.Add(pause), func() {
		w.stopped[p] = false
		late := w.backlog[p]
		w.backlog[p] = nil
		if w.rng.IntN(2) == 0 && w.acts(p) {
			w.tick(p)
		}
		for _, ev := range late {
			if w.cfg.Adaptive != nil {
				w.step(p, ev) // one Tick follows all of them
				continue
			}
			w.receive(p, ev)
		}
		if w.acts(p) {
			w.tick(p)
		}
	})
}

func (w *world) survivors() []int {
	var out []int
	for p := range w.all {
		if w.acts(p) {
			out = append(out, p)
		}
	}
	return out
}

// checkRing compares p's place on the ring with the dumb version.
func (w *world) checkRing(p int) {
	d := w.all[p]
	if d.fenced {
		return
	}
	if want := dumbEmitter(d.cfg.N, p, d.gone()); d.emitter != want {
		w.fail("%d observes %d, want %d: %s", p, d.emitter, want, d.Describe())
	}
	if dead, _ := d.split(d.flood.Items()); !d.dead.Equal(dead) || d.dead.Has(p) {
		w.fail("%d: %s, flooded %v", p, d.Describe(), d.flood.Items())
	}
}

// unstable returns why the configuration is not stable (RR-9024, §3.1.3): a survivor with a dead
// set that is not the set of the dead, or with neighbours on the ring that are not the nearest
// survivors.
func (w *world) unstable() error {
	if w.problem != nil {
		return w.problem
	}
	alive := rankset.Of(w.survivors()...)
	gone := rankset.Range(0, len(w.all))
	gone.Subtract(alive)
	for p := range alive.All() {
		if d := w.all[p]; !d.Dead().Equal(gone) {
			return fmt.Errorf("%d holds %v for dead, dead are %v", p, d.Dead(), gone)
		}
	}
	return w.disconnected()
}

// disconnected returns which survivor is not connected with its nearest live
// neighbours on the ring (RR-9024, §3.1.3).
func (w *world) disconnected() error {
	gone := rankset.Range(0, len(w.all))
	gone.Subtract(rankset.Of(w.survivors()...))
	for _, p := range w.survivors() {
		d, n := w.all[p], len(w.all)
		if d.emitter != dumbEmitter(n, p, gone) || d.observer != dumbObserver(n, p, gone) {
			return fmt.Errorf("%s; dead are %v", d.Describe(), gone)
		}
	}
	return nil
}

func (w *world) fail(format string, args ...any) {
	if w.problem == nil {
		w.problem = fmt.Errorf(format, args...)
	}
}

// dumbEmitter lists the candidates in order of distance and takes the first live one.
func dumbEmitter(n, me int, gone rankset.Set) int {
	for distance := 1; distance < n; distance++ {
		for r := range n {
			if (r+distance)%n == me && !gone.Has(r) {
				return r
			}
		}
	}
	return me
}

func dumbObserver(n, me int, gone rankset.Set) int {
	for r := range n {
		if r != me && !gone.Has(r) && dumbEmitter(n, r, gone) == me {
			return r
		}
	}
	return me
}
