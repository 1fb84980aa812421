// Package world hosts the rules of agents in virtual time, for figures. It simulates ordered
// messages with delays, deaths, and their detection.
package world

import (
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/base/eventqueue"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Bounds of the delay of a message.
const (
	wayLeast = 100 * mono.Microsecond
	wayMost  = 300 * mono.Microsecond
)

// World simulates processes in virtual time.
type World struct {
	Now     mono.Time
	Random  *rand.Rand
	Silent  bool // machines of the dead do not refuse connections
	Asked   int  // number of requests to the oracle
	Stepped func(p *Process)

	agenda eventqueue.Agenda[mono.Time]
	named  map[string]*Process
	root   *Process
}

// Process is one place of a tree.
type Process struct {
	Name    string
	Rule    *tree.Tree
	Dead    bool
	Stays   bool // searches for no other parent
	Watches []tree.Ref

	lost   bool      // has lost its parent, and Stays is set
	latest mono.Time // when the latest message to it arrives
}

// New returns a world without processes.
func New(random *rand.Rand) *World {
	return &World{Now: 1, Random: random, Stepped: func(*Process) {}, named: map[string]*Process{}}
}

// Add adds a process. The first process is the root.
func (w *World) Add(c tree.Config) *Process {
	c.Seed = w.Random.Uint64()
	p := &Process{Name: c.Me.Name, Rule: tree.New(c)}
	w.named[p.Name] = p
	if w.root == nil {
		w.root = p
	}
	return p
}

// Named returns a process.
func (w *World) Named(name string) *Process { return w.named[name] }

// Way draws the delay of a message.
func (w *World) Way() mono.Duration {
	return wayLeast + mono.Duration(w.Random.Int64N(int64(wayMost-wayLeast)))
}

// At schedules do at a time.
func (w *World) At(at mono.Time, do func()) { w.agenda.Plan(max(at, w.Now), do) }

// After schedules do after a delay.
func (w *World) After(d mono.Duration, do func()) { w.At(w.Now.Add(d), do) }

// Next executes the next event if it is due by until, and reports whether there was one.
func (w *World) Next(until mono.Time) bool {
	if !w.agenda.Due(until) {
		return false
	}
	at, do := w.agenda.Take()
	w.Now = max(w.Now, at)
	do()
	return true
}

// Run executes all events that are due by until.
func (w *World) Run(until mono.Time) {
	for w.Next(until) {
	}
	w.Now = until
}

// Send delivers a message to a process if it is alive then. Messages to one process keep their
// order, as on a link.
func (w *World) Send(to *Process, do func()) {
	to.latest = max(w.Now.Add(w.Way()), to.latest+1)
	w.agenda.Plan(to.latest, func() {
		if !to.Dead {
			do()
		}
	})
}

// Step applies an event to the rule of a process, and executes the actions.
func (w *World) Step(p *Process, ev tree.Event) {
	_, _, had := p.Rule.Parent()
	if p.Dead || p.lost {
		return
	}
	actions := slices.Clone(p.Rule.Step(ev))
	if _, _, has := p.Rule.Parent(); p.Stays && had && !has {
		p.lost = true
		w.Stepped(p)
		return
	}
	for _, action := range actions {
		w.do(p, action)
	}
	if at, ok := p.Rule.Deadline(); ok {
		w.At(at, func() {
			if d, ok := p.Rule.Deadline(); ok && d <= w.Now {
				w.Step(p, tree.Tick{Now: w.Now})
			}
		})
	}
	w.Stepped(p)
}

// Linked reports whether one of two processes is the parent of the other, and whether o is the
// child.
func Linked(p, o *Process) (linked, child bool) {
	parent, _, ok := p.Rule.Parent()
	child = slices.ContainsFunc(p.Rule.Children(), func(c tree.Ref) bool { return c.ID == o.Rule.Me().ID })
	return child || ok && parent.ID == o.Rule.Me().ID, child
}

// refuse reports a refused connection to p, unless the machine of the dead process is silent.
func (w *World) refuse(p *Process, who tree.ID) {
	if !w.Silent {
		w.Send(p, func() { w.Step(p, tree.Declared{At: w.Now, Who: who}) })
	}
}

func (w *World) do(p *Process, action tree.Action) {
	me := p.Rule.Me()
	switch m := action.(type) {
	case tree.Probe:
		to := w.named[m.To.Name]
		if to.Dead {
			w.refuse(p, m.To.ID)
			return
		}
		w.Send(to, func() {
			w.Send(p, func() { w.Step(p, tree.Answered{At: w.Now, Asked: m.To.ID, Is: to.Rule.Me().ID}) })
		})
	case tree.Join:
		to := w.named[m.To.Name]
		if to.Dead {
			w.refuse(p, m.To.ID)
			return
		}
		w.Send(to, func() { w.Step(to, tree.JoinAsked{Child: m.Child, Generation: m.Generation}) })
	case tree.Accept:
		to := w.named[m.Child.Name]
		w.Send(to, func() {
			w.Step(to, tree.Joined{At: w.Now, Parent: m.Parent, Generation: m.Generation, Ancestors: m.Ancestors, Term: m.Term})
		})
	case tree.Refuse:
		to := w.named[m.Child.Name]
		w.Send(to, func() { w.Step(to, tree.Declined{At: w.Now, Generation: m.Generation, Redirect: m.Redirect}) })
	case tree.List:
		to := w.named[m.Child.Name]
		w.Send(to, func() {
			w.Step(to, tree.Listed{At: w.Now, From: me.ID, Generation: m.Generation, Ancestors: m.Ancestors, Term: m.Term})
		})
	case tree.Leave:
		to := w.named[m.Peer.Name]
		w.Send(to, func() { w.Step(to, tree.Closed{At: w.Now, Peer: me.ID, Generation: m.Generation, Up: !m.Up}) })
	case tree.AskOracle:
		w.Asked++
		w.Send(p, func() { root := w.root.Rule.Me(); w.Step(p, tree.Oracle{At: w.Now, Root: &root}) })
	case tree.Observe:
		p.Watches = m.Whom
	}
}
