package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// ExhaustMax is the largest world for which Searches returns searches.
const ExhaustMax = 4

// Search visits every state that a small world can reach: every order of calls, deliveries, deaths
// and notices. A death is tried with every number of frames that left the dead process. Each state
// is visited once.
type Search struct {
	model  model
	n      int
	deaths int // at most
}

// Explored counts the states that a search has visited.
type Explored struct {
	States int
	Ends   int // states in which only a death can still happen
}

// model defines the machines of the processes and the conditions that must hold.
type model interface {
	name() string
	// machine returns a pointer to the rules of process p of n.
	machine(n, p int) any
	// calls lists the possible next calls of the program of process p.
	calls(w *smallWorld, p int) []choice
	// take applies one input to the copy of p's machine.
	take(w *smallWorld, p int, in any)
	// timed reports whether time passes when no frame is on the way.
	timed() bool
	// always returns an error for a state that breaks an invariant. end checks a state in which
	// only a death can still happen.
	always(w *smallWorld) error
	end(w *smallWorld) error
}

// choice is one possible call of a program.
type choice struct {
	name string
	in   any
}

// The inputs of a process besides calls.
type (
	frameFrom struct {
		from  int
		frame string
	}
	deathOf struct{ proc int }
	timeIs  struct{ now mono.Time }
)

// smallWorld is one state.
type smallWorld struct {
	n, deaths int
	machines  []any
	digests   []world.Hash // of machines
	queues    [][]string
	dead      uint64
	told      []uint64 // by process: the deaths that are known to it
	oracle    [][]string
	now       mono.Time
	quiet     int // slots of time since the last death, or the beginning
}

// quietMax bounds how long a timed world is observed, in slots.
const quietMax = 24

// slot is the step of time when no frame is on the way.
const slot = period / 2

// String returns the model, the size and the number of deaths.
func (s Search) String() string {
	return fmt.Sprintf("%s n=%d f=%d", s.model.name(), s.n, s.deaths)
}

// Run searches. The error contains the path to a violation.
func (s Search) Run() (Explored, error) {
	w := &smallWorld{n: s.n, deaths: s.deaths, now: world.Epoch, machines: make([]any, s.n), digests: make([]world.Hash, s.n), queues: make([][]string, s.n*s.n), told: make([]uint64, s.n), oracle: make([][]string, s.n)}
	for p := range s.n {
		w.machines[p] = s.model.machine(s.n, p)
		w.digests[p] = hashMachine(w.machines[p], w.now)
	}
	e := explorer{model: s.model, seen: map[[2]world.Hash]struct{}{}}
	err := e.visit(w, nil)
	return Explored{States: len(e.seen), Ends: e.ends}, err
}

type explorer struct {
	model model
	seen  map[[2]world.Hash]struct{}
	ends  int
}

// path is the sequence of steps to a state.
type path struct {
	before *path
	step   string
}

func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.before {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return strings.Join(steps, ", ")
}

// next is one step to another state.
type next struct {
	name string
	do   func(w *smallWorld)
}

func (e *explorer) visit(w *smallWorld, at *path) error {
	key := w.key()
	if _, known := e.seen[key]; known {
		return nil
	}
	e.seen[key] = struct{}{}
	if err := e.model.always(w); err != nil {
		return fmt.Errorf("%w\nafter: %v", err, at)
	}
	steps := e.steps(w)
	if len(steps) == 0 {
		e.ends++
		if err := e.model.end(w); err != nil {
			return fmt.Errorf("%w\nin the end, after: %v", err, at)
		}
	}
	for _, s := range append(steps, w.crashes()...) {
		v := w.clone()
		s.do(v)
		if err := e.visit(v, &path{at, s.name}); err != nil {
			return err
		}
	}
	return nil
}

// steps lists all steps that must happen at some time. Their order is free.
func (e *explorer) steps(w *smallWorld) []next {
	var out []next
	for p := range w.n {
		if w.isDead(p) {
			continue
		}
		for _, c := range e.model.calls(w, p) {
			out = append(out, next{fmt.Sprintf("%d %s", p, c.name), func(w *smallWorld) { e.take(w, p, c.in) }})
		}
		for from := range w.n {
			if len(w.queues[from*w.n+p]) > 0 {
				out = append(out, next{fmt.Sprintf("deliver %d->%d", from, p), func(w *smallWorld) {
					q := &w.queues[from*w.n+p]
					f := (*q)[0]
					*q = (*q)[1:]
					e.take(w, p, frameFrom{from, f})
				}})
			}
			if w.isDead(from) && w.told[p]>>from&1 == 0 && !e.model.timed() {
				out = append(out, next{fmt.Sprintf("notice %d %d", p, from), func(w *smallWorld) {
					w.told[p] |= 1 << from
					e.take(w, p, deathOf{from})
				}})
			}
		}
	}
	if len(out) == 0 && e.model.timed() && w.quiet < quietMax {
		out = append(out, next{"time", e.pass})
	}
	return out
}

// pass advances the time for all processes at once, when no frame is on the way. So every frame
// takes less than a slot, and clocks do not drift apart.
func (e *explorer) pass(w *smallWorld) {
	w.now = w.now.Add(slot)
	w.quiet++
	for p := range w.n {
		if !w.isDead(p) {
			e.take(w, p, timeIs{w.now})
		}
	}
}

// take applies an input to a process. Its machine is copied first, because states share the
// machines that a step leaves unchanged.
func (e *explorer) take(w *smallWorld, p int, in any) {
	w.machines[p] = copyMachine(w.machines[p])
	e.model.take(w, p, in)
	w.digests[p] = hashMachine(w.machines[p], w.now)
}

func (w *smallWorld) isDead(p int) bool { return w.dead>>p&1 == 1 }

// send puts a frame on the way.
func (w *smallWorld) send(from, to int, frame []byte) {
	if !w.isDead(to) {
		i := from*w.n + to
		w.queues[i] = append(slices.Clip(w.queues[i]), string(frame))
	}
}

// note records an answer or an event at a process.
func (w *smallWorld) note(p int, format string, args ...any) {
	w.oracle[p] = append(slices.Clip(w.oracle[p]), fmt.Sprintf(format, args...))
}

// crashes lists the deaths that may happen now. Any process may die. To each other process any
// number of its frames stays on the way, in the order in which they were sent.
func (w *smallWorld) crashes() []next {
	dead := 0
	for p := range w.n {
		dead += int(w.dead >> p & 1)
	}
	if dead >= w.deaths {
		return nil
	}
	var out []next
	for p := range w.n {
		if w.isDead(p) {
			continue
		}
		for _, keep := range w.keeps(p, 0) {
			out = append(out, next{fmt.Sprintf("crash %d keeping %v", p, keep), func(w *smallWorld) {
				w.dead |= 1 << p
				w.quiet = 0
				w.machines[p], w.digests[p] = nil, 0
				for q := range w.n {
					w.queues[p*w.n+q] = w.queues[p*w.n+q][:keep[q]]
					w.queues[q*w.n+p] = nil
				}
			}})
		}
	}
	return out
}

// keeps returns every vector of the numbers of frames of p that arrive at each process.
func (w *smallWorld) keeps(p, to int) [][]int {
	if to == w.n {
		return [][]int{nil}
	}
	var out [][]int
	for keep := range len(w.queues[p*w.n+to]) + 1 {
		for _, rest := range w.keeps(p, to+1) {
			out = append(out, append([]int{keep}, rest...))
		}
	}
	return out
}

func (w *smallWorld) clone() *smallWorld {
	v := *w
	v.machines, v.digests, v.queues = slices.Clone(w.machines), slices.Clone(w.digests), slices.Clone(w.queues)
	v.told, v.oracle = slices.Clone(w.told), slices.Clone(w.oracle)
	return &v
}

// key digests every input of the future and of the checks.
func (w *smallWorld) key() [2]world.Hash {
	var k [2]world.Hash
	for i := range k {
		h := world.NewHash()
		h.Add(uint64(i))
		h.Add(w.dead)
		h.Add(uint64(w.quiet))
		for p := range w.n {
			h.Add(uint64(w.digests[p]))
			h.Add(w.told[p])
			h.AddTexts(w.oracle[p])
		}
		for _, q := range w.queues {
			h.AddTexts(q)
		}
		k[i] = h
	}
	return k
}
