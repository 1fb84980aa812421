package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/internal/agenda"
	"github.com/goulfm/goulfm/internal/mono"
)

// Times of the world.
const (
	wayLeast = 100 * mono.Microsecond
	wayMost  = 300 * mono.Microsecond
	detect   = 5 * mono.Second         // T_D
	period   = 1029 * mono.Millisecond // of the heartbeats that fd/adaptive asks for then
)

// chain is agents in virtual time, each the parent of the next.
type chain struct {
	setting
	random *rand.Rand
	now    mono.Time
	agenda agenda.Agenda[mono.Time]
	agents []*agent
	first  mono.Time // when a death was first detected; 0: not yet
	asked  int
}

// agent is one of them.
type agent struct {
	number  int
	rule    *tree.Tree
	dead    bool
	watches []tree.Ref
	latest  mono.Time // when the latest message to it arrives
}

func newChain(s setting, random *rand.Rand) *chain {
	w := &chain{setting: s, random: random, now: 1}
	for i := range s.agents {
		name := fmt.Sprint(i)
		cfg := tree.Config{Me: tree.Ref{ID: tree.ID{Name: name, Incarnation: 1}, Tier: i, Addr: name}, Root: i == 0, Known: s.known, Observed: s.observed, Seed: random.Uint64()}
		if i > 0 {
			cfg.Home = &tree.Ref{ID: tree.ID{Name: fmt.Sprint(i - 1)}, Addr: fmt.Sprint(i - 1), Tier: tree.Untiered}
		}
		w.agents = append(w.agents, &agent{number: i, rule: tree.New(cfg)})
		w.step(w.agents[i], tree.Start{At: w.now})
		w.run(w.now.Add(mono.Second))
	}
	w.asked = 0
	return w
}

// fail kills agents at one moment, and returns how many milliseconds after the first detection
// all is whole, and how often the oracle was asked.
func (w *chain) fail(victims []int) (ms float64, asked int) {
	killed := w.now
	for _, v := range victims {
		w.agents[v].dead = true
	}
	for _, a := range w.agents {
		for _, v := range victims {
			w.detect(a, w.agents[v])
		}
	}
	whole := killed
	for end := killed.Add(60 * mono.Second); w.now < end; {
		at, ok := w.agenda.Next()
		if !ok || at > end {
			break
		}
		was := w.whole()
		_, do := w.agenda.Take()
		w.now = max(w.now, at)
		do()
		if !was && w.whole() {
			whole = w.now
		}
	}
	if !w.whole() {
		panic(fmt.Sprintf("not whole a minute after %v", victims))
	}
	return float64(max(0, whole.Sub(w.first))) / float64(mono.Millisecond), w.asked
}

// detect lets an agent find out about a death: by its link, which breaks and is refused, or by
// silence, if it observes the dead.
func (w *chain) detect(a, dead *agent) {
	if a.dead || a == dead {
		return
	}
	parent, _, _ := a.rule.Parent()
	child := slices.ContainsFunc(a.rule.Children(), func(c tree.Ref) bool { return c.ID == dead.rule.Me().ID })
	linked := parent.ID == dead.rule.Me().ID || child
	observed := child || slices.ContainsFunc(a.watches, func(r tree.Ref) bool { return r.ID == dead.rule.Me().ID })
	after := 2 * w.way()
	switch {
	case w.silence && observed:
		after = detect - mono.Duration(w.random.Int64N(int64(period)))
	case w.silence || !linked:
		return
	}
	w.agenda.Plan(w.now.Add(after), func() {
		if w.first == 0 {
			w.first = w.now
		}
		w.step(a, tree.Declared{At: w.now, Who: dead.rule.Me().ID})
	})
}

// whole says whether each survivor is attached to one, and knows its ancestors.
func (w *chain) whole() bool {
	for _, a := range w.agents[1:] {
		if a.dead {
			continue
		}
		if a.rule.Phase() != tree.Attached {
			return false
		}
		parent, _, _ := a.rule.Parent()
		above := w.named(parent.Name)
		want := append([]tree.Ref{above.rule.Me()}, above.rule.Ancestors()...)
		if above.dead || !slices.Equal(a.rule.Ancestors(), want[:min(len(want), w.known)]) {
			return false
		}
	}
	return true
}

func (w *chain) named(name string) *agent {
	n := 0
	_, _ = fmt.Sscan(name, &n)
	return w.agents[n]
}

func (w *chain) way() mono.Duration {
	return wayLeast + mono.Duration(w.random.Int64N(int64(wayMost-wayLeast)))
}

func (w *chain) run(until mono.Time) {
	for w.agenda.Due(until) {
		at, do := w.agenda.Take()
		w.now = max(w.now, at)
		do()
	}
	w.now = until
}

// soon has something happen at an agent that lives then. What is sent to one comes in order, as
// on a link.
func (w *chain) soon(to *agent, do func()) {
	to.latest = max(w.now.Add(w.way()), to.latest+1)
	w.agenda.Plan(to.latest, func() {
		if !to.dead {
			do()
		}
	})
}

func (w *chain) step(a *agent, ev tree.Event) {
	if a.dead {
		return
	}
	for _, action := range slices.Clone(a.rule.Step(ev)) {
		w.do(a, action)
	}
	if at, ok := a.rule.Deadline(); ok {
		w.agenda.Plan(max(at, w.now), func() {
			if d, ok := a.rule.Deadline(); ok && d <= w.now {
				w.step(a, tree.Tick{Now: w.now})
			}
		})
	}
}

// refuse lets an agent know that nobody listens, if the machine of the dead is there.
func (w *chain) refuse(a *agent, who tree.ID) {
	if !w.silence {
		w.soon(a, func() { w.step(a, tree.Declared{At: w.now, Who: who}) })
	}
}

func (w *chain) do(a *agent, action tree.Action) {
	me := a.rule.Me()
	switch m := action.(type) {
	case tree.Probe:
		to := w.named(m.To.Name)
		if to.dead {
			w.refuse(a, m.To.ID)
			return
		}
		w.soon(to, func() {
			w.soon(a, func() { w.step(a, tree.Answered{At: w.now, Asked: m.To.ID, Is: to.rule.Me().ID}) })
		})
	case tree.Join:
		to := w.named(m.To.Name)
		if to.dead {
			w.refuse(a, m.To.ID)
			return
		}
		w.soon(to, func() { w.step(to, tree.JoinAsked{Child: m.Child, Generation: m.Generation}) })
	case tree.Accept:
		to := w.named(m.Child.Name)
		w.soon(to, func() {
			w.step(to, tree.Joined{At: w.now, Parent: m.Parent, Generation: m.Generation, Ancestors: m.Ancestors})
		})
	case tree.Refuse:
		to := w.named(m.Child.Name)
		w.soon(to, func() { w.step(to, tree.Declined{At: w.now, Generation: m.Generation, Redirect: m.Redirect}) })
	case tree.List:
		to := w.named(m.Child.Name)
		w.soon(to, func() {
			w.step(to, tree.Listed{At: w.now, From: me.ID, Generation: m.Generation, Ancestors: m.Ancestors})
		})
	case tree.Leave:
		to := w.named(m.Peer.Name)
		w.soon(to, func() { w.step(to, tree.Closed{At: w.now, Peer: me.ID, Generation: m.Generation, Up: !m.Up}) })
	case tree.AskOracle:
		w.asked++
		w.soon(a, func() { root := w.agents[0].rule.Me(); w.step(a, tree.Oracle{At: w.now, Root: &root}) })
	case tree.Observe:
		a.watches = m.Whom
	}
}
