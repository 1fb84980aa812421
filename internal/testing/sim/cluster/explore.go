package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// ExhaustMax is the largest world that Searches gives searches for.
const ExhaustMax = 4

// Search visits every state that a small world can reach: every order of calls,
// deliveries, deaths - with every number of frames that left the dead process -
// and notices. Each state is visited once.
type Search struct {
	model  model
	n      int
	deaths int // at most
}

// Explored is what a search has seen.
type Explored struct {
	States int
	Ends   int // states in which nothing but a death can happen any more
}

// model says what processes are made of and what must hold.
type model interface {
	name() string
	// machine returns the rules of process p of n, a pointer.
	machine(n, p int) any
	// calls lists what the program of process p may do next.
	calls(w *smallWorld, p int) []choice
	// take applies one thing to the copy of p's machine.
	take(w *smallWorld, p int, in any)
	// timed says whether time passes when nothing is on the way.
	timed() bool
	// always returns what is wrong with a state, end with one in which nothing but
	// a death can happen any more.
	always(w *smallWorld) error
	end(w *smallWorld) error
}

// choice is one thing that a program may do.
type choice struct {
	name string
	in   any
}

// What a process meets, besides calls.
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
	told      []uint64 // by process: of whose death it was told
	oracle    [][]string
	now       mono.Time
	quiet     int // slots of time since the last death, or the beginning
}

// quietMax bounds how long a timed world is watched.
const quietMax = 24

// slot is how far time moves when nothing is on the way.
const slot = period / 2

// String says what is searched.
func (s Search) String() string {
	return fmt.Sprintf("%s n=%d f=%d", s.model.name(), s.n, s.deaths)
}

// Run searches. The error tells the path to a violation.
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

// path is how a state was reached.
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

// steps lists everything that must happen at some time; the order is free.
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

// pass lets time pass, for all at once, when nothing is on the way: so every frame
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

// take lets a process take something. Its machine is copied first: states share
// the machines that a step does not touch.
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

// note remembers what a process was told.
func (w *smallWorld) note(p int, format string, args ...any) {
	w.oracle[p] = append(slices.Clip(w.oracle[p]), fmt.Sprintf(format, args...))
}

// crashes lists the deaths that may happen now: any process, with any number of
// its frames to each other one still on the way, in the order they were sent.
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

// keeps returns every vector of how many frames of p to each process arrive.
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

// key digests everything that the future, and what is checked, depend on.
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
