package nodes

import (
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// nodeNet holds the reachability between machines.
type nodeNet struct {
	n     int
	cuts  []int      // from i to j at i*n+j: number of faults that cut this path now
	waits [][]func() // the same: functions that run when the path is whole again
}

func newNodeNet(n int) nodeNet {
	return nodeNet{n: n, cuts: make([]int, n*n), waits: make([][]func(), n*n)}
}

// cut reports whether nothing arrives from one machine at another.
func (w *nodeNet) cut(from, to *station) bool { return w.cuts[from.me*w.n+to.me] > 0 }

// whenWhole runs a function as soon as the path is whole.
func (w *nodeNet) whenWhole(from, to *station, do func()) {
	way := from.me*w.n + to.me
	w.waits[way] = append(w.waits[way], do)
}

// sever cuts a path, by one fault more.
func (w *nodeNet) sever(from, to *station) { w.cuts[from.me*w.n+to.me]++ }

// mend ends the cut of one fault.
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

// delay draws the duration of a message between machines, or of an operation of similar duration.
func (r *nodeRun) delay(t *world.Tape) mono.Duration {
	d := r.setup.delay/10 + t.Uniform(r.setup.delay)
	if r.setup.tails && t.Percent(10) {
		d += t.Tail(2 * r.setup.delay)
	}
	return d + 1
}
