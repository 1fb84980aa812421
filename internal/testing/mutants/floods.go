package mutants

import (
	"fmt"
	"math/rand/v2"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/protocol/flood"
)

// floods is the arena of one reliable broadcast: members publish and die at any moment, and
// frames and notices of death arrive in any order. At the end, when no message is in flight:
//
//	I8  either all survivors have an item, or none
func floods(seed uint64, _ Hunt) *failure {
	w := newFloods(seed)
	for w.rng.IntN(4) == 0 || len(w.pending) > 0 || w.deathsLeft > 0 {
		w.happen()
	}
	return w.final()
}

type floodWorld struct {
	rng        *rand.Rand
	n          int
	all        []*flood.Flood
	ended      rankset.Set
	deathsLeft int
	pending    []func() // the possible next events, in any order
	lines      [][][]flood.Event
}

func newFloods(seed uint64) *floodWorld {
	w := &floodWorld{rng: rand.New(rand.NewPCG(seed, 23))}
	w.n = 2 + w.rng.IntN(9)
	w.deathsLeft = w.rng.IntN(w.n)
	for p := range w.n {
		w.all = append(w.all, flood.New(flood.Config{N: w.n, Me: p, Items: 1}))
		w.lines = append(w.lines, make([][]flood.Event, w.n))
	}
	w.pending = append(w.pending, func() { w.step(0, flood.Publish{Items: rankset.Of(0)}, w.n) })
	return w
}

// happen executes one event: a death during the sends of a step, or a pending event.
func (w *floodWorld) happen() {
	if w.deathsLeft > 0 && w.rng.IntN(3) == 0 {
		w.kill(w.rng.IntN(w.n))
	}
	if len(w.pending) == 0 {
		return
	}
	i := w.rng.IntN(len(w.pending))
	do := w.pending[i]
	w.pending[i] = w.pending[len(w.pending)-1]
	w.pending = w.pending[:len(w.pending)-1]
	do()
}

// kill ends p. Each survivor receives one notice of the death, after all messages that p had
// sent to it.
func (w *floodWorld) kill(p int) {
	if !w.ended.Add(p) {
		return
	}
	w.deathsLeft--
	for q := range w.n {
		if q != p {
			w.post(p, q, flood.Failed{Rank: p})
		}
	}
}

// step steps p with an event, and executes the first of the resulting sends.
func (w *floodWorld) step(p int, ev flood.Event, sends int) {
	if w.ended.Has(p) {
		return
	}
	for _, a := range w.all[p].Step(ev) {
		if s, ok := a.(flood.Send); ok && sends > 0 {
			w.post(p, s.To, flood.Receive{From: p, Msg: s.Msg})
			sends--
		}
	}
}

// post queues an event behind the earlier events from the same process to the same process.
func (w *floodWorld) post(from, to int, ev flood.Event) {
	w.lines[from][to] = append(w.lines[from][to], ev)
	w.pending = append(w.pending, func() {
		next := w.lines[from][to][0]
		w.lines[from][to] = w.lines[from][to][1:]
		sends := w.n
		dies := w.deathsLeft > 0 && w.rng.IntN(3) == 0
		if dies {
			sends = w.rng.IntN(3)
		}
		w.step(to, next, sends)
		if dies {
			w.kill(to)
		}
	})
}

func (w *floodWorld) final() *failure {
	var have, lack rankset.Set
	for p, m := range w.all {
		switch {
		case w.ended.Has(p):
		case m.Items().IsEmpty():
			lack.Add(p)
		default:
			have.Add(p)
		}
	}
	if !have.IsEmpty() && !lack.IsEmpty() {
		return &failure{"I8", fmt.Sprintf("processes %v have the item, %v do not; %v of %d are dead", have, lack, w.ended, w.n)}
	}
	return nil
}
