package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/goulfm/goulfm/gridrpc/internal/tree"
	"github.com/goulfm/goulfm/gridrpc/internal/world"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Times of detection by silence.
const (
	detect = 5 * mono.Second         // T_D
	period = 1029 * mono.Millisecond // of the heartbeats that fd/adaptive requests for T_D
)

// chain is a chain of agents in virtual time, each the parent of the next.
type chain struct {
	setting
	*world.World
	agents []*world.Process
	first  mono.Time // when a death was first detected; 0: not yet
	sought map[[2]*world.Process]bool
}

func newChain(s setting, random *rand.Rand) *chain {
	w := &chain{setting: s, World: world.New(random), sought: map[[2]*world.Process]bool{}}
	for i := range s.agents {
		name := fmt.Sprint(i)
		cfg := tree.Config{Me: tree.Ref{ID: tree.ID{Name: name, Incarnation: 1}, Tier: i, Addr: name}, Root: i == 0, Known: s.known, Observed: s.observed}
		if i > 0 {
			cfg.Home = &tree.Ref{ID: tree.ID{Name: fmt.Sprint(i - 1)}, Addr: fmt.Sprint(i - 1), Tier: tree.Untiered}
		}
		w.agents = append(w.agents, w.Add(cfg))
		w.Step(w.agents[i], tree.Start{At: w.Now})
		w.Run(w.Now.Add(mono.Second))
	}
	w.Silent = s.silence
	w.Asked = 0
	if s.silence {
		w.Stepped = w.watchTheDead
	}
	return w
}

// fail kills agents at one moment. It returns the milliseconds from the first detection until the
// chain is whole, and the number of requests to the oracle.
func (w *chain) fail(victims []int) (ms float64, asked int) {
	killed := w.Now
	for _, v := range victims {
		w.agents[v].Dead = true
	}
	for _, a := range w.agents {
		for _, v := range victims {
			w.detect(a, w.agents[v])
		}
	}
	whole, was := killed, w.whole()
	for end := killed.Add(60 * mono.Second); w.Next(end); {
		is := w.whole()
		if is && !was {
			whole = w.Now
		}
		was = is
	}
	if !was {
		panic(fmt.Sprintf("not whole a minute after %v", victims))
	}
	return float64(max(0, whole.Sub(w.first))) / float64(mono.Millisecond), w.Asked
}

// detect makes an agent find a death: by its link, which breaks and is refused, or by silence if it
// observes the dead agent.
func (w *chain) detect(a, dead *world.Process) {
	if a.Dead || a == dead {
		return
	}
	linked, child := world.Linked(a, dead)
	observed := child || slices.ContainsFunc(a.Watches, func(r tree.Ref) bool { return r.ID == dead.Rule.Me().ID })
	after := 2 * w.Way()
	switch {
	case w.silence && observed:
		after = detect - mono.Duration(w.Random.Int64N(int64(period)))
	case w.silence || !linked:
		return
	}
	w.declareAfter(after, a, dead)
}

// declareAfter makes a process declare another one dead after a while.
func (w *chain) declareAfter(after mono.Duration, p, dead *world.Process) {
	w.sought[[2]*world.Process{p, dead}] = true
	w.After(after, func() {
		if w.first == 0 {
			w.first = w.Now
		}
		w.Step(p, tree.Declared{At: w.Now, Who: dead.Rule.Me().ID})
	})
}

// watchTheDead makes a process that begins to observe a silent one find its death.
func (w *chain) watchTheDead(p *world.Process) {
	for _, r := range p.Watches {
		if o := w.Named(r.Name); o.Dead && !w.sought[[2]*world.Process{p, o}] {
			w.declareAfter(detect, p, o)
		}
	}
}

// whole reports whether each survivor is attached to another survivor, and knows its ancestors.
func (w *chain) whole() bool {
	for _, a := range w.agents[1:] {
		if a.Dead {
			continue
		}
		if a.Rule.Phase() != tree.Attached {
			return false
		}
		parent, _, _ := a.Rule.Parent()
		above := w.Named(parent.Name)
		want := append([]tree.Ref{above.Rule.Me()}, above.Rule.Ancestors()...)
		if above.Dead || !slices.Equal(a.Rule.Ancestors(), want[:min(len(want), w.known)]) {
			return false
		}
	}
	return true
}
