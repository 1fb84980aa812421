package nodes

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// nodeNet is which machines reach which others.
type nodeNet struct {
	n     int
	cuts  []int      // from i to j at i*n+j: how many faults cut that way now
	waits [][]func() // the same: what happens when it is whole again
}

func newNodeNet(n int) nodeNet {
	return nodeNet{n: n, cuts: make([]int, n*n), waits: make([][]func(), n*n)}
}

// cut says whether nothing arrives that goes from one machine to another.
func (w *nodeNet) cut(from, to *station) bool { return w.cuts[from.me*w.n+to.me] > 0 }

// whenWhole has something happen as soon as the way is whole.
func (w *nodeNet) whenWhole(from, to *station, do func()) {
	way := from.me*w.n + to.me
	w.waits[way] = append(w.waits[way], do)
}

// sever cuts a way, by one fault more.
func (w *nodeNet) sever(from, to *station) { w.cuts[from.me*w.n+to.me]++ }

// mend ends what one fault has cut.
func (w *nodeNet) mend(from, to *station) {
	way := from.me*w.n + to.me
	if w.cuts[way]--; w.cuts[way] > 0 {
		return
	}
	waits := w.waits[way]
	w.waits[way] = nil
	for _, do := range waits {
		do()
	}
}

// delay draws how long a message between machines, or what takes as long, is under way.
func (r *nodeRun) delay(t *world.Tape) mono.Duration {
	d := r.setup.delay/10 + t.Uniform(r.setup.delay)
	if r.setup.tails && t.Percent(10) {
		d += t.Tail(2 * r.setup.delay)
	}
	return d + 1
}
