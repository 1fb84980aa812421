// Package interleave runs a few goroutines in every order of their steps, for tests of rules that
// hold at any instruction.
//
// # Problem
//
// A rule such as "publish before the check" is broken by one order of single accesses to memory
// out of thousands. A test that starts goroutines hardly ever meets that order, and a copy of the
// rule in a model proves nothing about the code that ships.
//
// # How
//
// Actors run the code that ships. The test gives that code a memory, a link or a sleeper whose
// methods call Step before each access: there the actor pauses until it is chosen. So one actor
// runs at a time, and the order of accesses is that of the choices. Visit explores all of them:
// it starts the world again for each order, and leaves out an order that leads to a visited
// state. A state is the shared memory, as the test describes it, and the history of each actor:
// its steps and the values that it has read.
//
// An actor that is Mortal may die before any of its steps: its goroutine ends there.
//
// # What is not promised
//
// Orders that a weak memory model adds: accesses happen one after the other. Code that waits for
// another actor by other means than Await, such as a mutex, hangs: such an actor must Await a
// free mutex before.
package interleave

import (
	"errors"
	"fmt"
	"strings"
)

// A World is one run of the actors in one order.
type World struct {
	actors  []*Actor
	events  []*event
	running *Actor // the one that is not paused
	path    []string
	err     error

	// State describes the memory that the actors share. Two states with the same text and the same
	// histories of all actors go on alike.
	State func() string
	// End, if not nil, checks the last state of an order, in which no actor can make a step.
	End func() error
}

// An Actor is a goroutine whose steps are chosen.
type Actor struct {
	name    string
	turn    chan bool // true: make the step; false: end
	paused  chan bool // false: it has ended
	next    string    // the step before which it pauses
	can     func() bool
	history strings.Builder
	steps   int // it has made
	seen    int // the steps of others, when Again returned
	over    bool
	mortal  bool
	died    func()
	idle    bool
}

// event happens once, at any time.
type event struct {
	name string
	do   func()
	over bool
}

// killed ends the goroutine of an actor.
type killed struct{}

// Go adds an actor. Its first step is the begin of its body.
func (w *World) Go(name string, body func()) *Actor {
	a := &Actor{name: name, turn: make(chan bool), paused: make(chan bool), next: "begins"}
	w.actors = append(w.actors, a)
	go func() {
		defer func() {
			if r := recover(); r != nil && r != any(killed{}) {
				w.Failf("%s: %v", name, r)
			}
			a.paused <- false
		}()
		if !<-a.turn {
			panic(killed{})
		}
		body()
	}()
	return a
}

// Mortal lets an actor die before any of its steps. Then died is called.
func (a *Actor) Mortal(died func()) { a.mortal, a.died = true, died }

// MayWait allows that an actor still waits in the end.
func (a *Actor) MayWait() { a.idle = true }

// Event adds something that happens once, at any time.
func (w *World) Event(name string, do func()) {
	w.events = append(w.events, &event{name: name, do: do})
}

// Step pauses the calling actor until its next access is chosen.
func (w *World) Step(what string) { w.Await(what, nil) }

// Await pauses the calling actor until its next access is chosen, which it is only while can
// reports true.
func (w *World) Await(what string, can func() bool) {
	a := w.running
	a.next, a.can = what, can
	a.paused <- true
	if !<-a.turn {
		panic(killed{})
	}
}

// Again pauses the calling actor, which has found nothing to do, until something has happened
// since it was called before: a value that the actor has read meanwhile may have changed.
func (w *World) Again(what string) {
	a := w.running
	w.Await(what, func() bool { return w.others(a) > a.seen })
	a.seen = w.others(a)
}

// others returns how often something has happened that was no step of an actor.
func (w *World) others(a *Actor) int { return len(w.path) - a.steps }

// Saw adds a value that the calling actor has read to its history, if its next step does not show
// the value.
func (w *World) Saw(v any) { fmt.Fprintf(&w.running.history, "=%v", v) }

// Forget ends the history of the calling actor: from here on only where and the shared memory
// determine its steps.
func (w *World) Forget(where any) {
	w.running.history.Reset()
	w.Saw(where)
}

// Failf fails the run. The first failure counts.
func (w *World) Failf(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// move is one choice.
type move struct {
	name string
	do   func()
}

func (w *World) moves() (out []move) {
	for _, a := range w.actors {
		if a.over {
			continue
		}
		if a.can == nil || a.can() {
			out = append(out, move{a.name + ": " + a.next, func() { w.resume(a) }})
		}
		if a.mortal {
			out = append(out, move{a.name + " dies", func() { w.end(a); a.died() }})
		}
	}
	for _, e := range w.events {
		if !e.over {
			out = append(out, move{e.name, func() { e.over = true; e.do() }})
		}
	}
	return out
}

// resume has an actor make a step, until it pauses before the next one.
func (w *World) resume(a *Actor) {
	fmt.Fprintf(&a.history, "|%s", a.next)
	w.running, a.can = a, nil
	a.steps++
	a.turn <- true
	a.over = !<-a.paused
}

// end ends the goroutine of an actor.
func (w *World) end(a *Actor) {
	fmt.Fprint(&a.history, "|ended")
	w.running, a.over = a, true
	a.turn <- false
	<-a.paused
}

func (w *World) key() string {
	var b strings.Builder
	b.WriteString(w.State())
	for _, a := range w.actors {
		fmt.Fprintf(&b, "\n%v%s", a.can == nil || a.can(), a.history.String())
	}
	for _, e := range w.events {
		fmt.Fprintf(&b, "\n%v", e.over)
	}
	return b.String()
}

// check returns an error if an actor waits for ever in the last state of an order.
func (w *World) check() error {
	for _, a := range w.actors {
		if !a.over && !a.idle {
			return fmt.Errorf("%s waits for ever: %s", a.name, a.next)
		}
	}
	if w.End == nil {
		return nil
	}
	return w.End()
}

// stepsMax bounds the steps of one order: more are made only by actors whose histories grow
// without end.
const stepsMax = 2000

// A visit is the search through all orders.
type visit struct {
	build func(w *World)
	seen  map[string]bool
	todo  [][]int // the choices that lead to orders that were not visited yet
}

// Visit runs the world that build makes in every order, and returns how many states it has
// visited. The error is of the first order that fails, with its steps. More than most states are
// an error, too.
func Visit(most int, build func(w *World)) (states int, err error) {
	v := &visit{build: build, seen: map[string]bool{}, todo: [][]int{nil}}
	for len(v.todo) > 0 {
		choices := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		w := &World{}
		build(w)
		err := v.play(w, choices)
		for _, a := range w.actors {
			if !a.over {
				w.end(a)
			}
		}
		if err = errors.Join(err, w.err); err != nil {
			return len(v.seen), fmt.Errorf("%w\nafter:\n  %s", err, strings.Join(w.path, "\n  "))
		}
		if len(v.seen) > most {
			return len(v.seen), fmt.Errorf("more than %d states", most)
		}
	}
	return len(v.seen), nil
}

// play makes the choices, then always the first move, until the end or a state that was visited.
// The other moves on the way are left for later.
func (v *visit) play(w *World, choices []int) error {
	for at := 0; w.err == nil; at++ {
		moves := w.moves()
		if at >= len(choices) {
			key := w.key()
			if v.seen[key] {
				return nil
			}
			v.seen[key] = true
			for other := 1; other < len(moves); other++ {
				v.todo = append(v.todo, append(choices[:at:at], other))
			}
			choices = append(choices[:at:at], 0)
		}
		if len(moves) == 0 {
			return w.check()
		}
		if at > stepsMax {
			return fmt.Errorf("more than %d steps: a loop must Forget its turns", stepsMax)
		}
		chosen := moves[choices[at]]
		w.path = append(w.path, chosen.name)
		chosen.do()
	}
	return nil
}
