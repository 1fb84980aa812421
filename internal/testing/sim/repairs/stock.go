package repairs

import (
	"slices"

	"github.com/goulfm/goulfm/internal/ckpt/repair"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// stock holds a worker's members that a repair leaves to the live ranks. The program sets them if
// the version is zero. Otherwise they come out of a version, once.
type stock struct {
	repair.Stock
	static  uint64 // a function of the rank and the size of its world
	forward int    // the greatest step of this process
}

// staticOf is the value of the static member of a rank.
func staticOf(rank, size int) uint64 { return world.Mix(uint64(size)<<16 ^ uint64(rank) + 1) }

// take gives the program of w its static and forward members, from the restored part; nil: this is
// the first version. In a world of another size the parts were dealt out.
func (s *stock) take(w *driver, p *keptPart) {
	a := w.att
	fits := s.Fits(a.run, a.plan.Label)
	switch {
	case fits:
	case p == nil:
		s.static = staticOf(a.run.Rank, a.run.Size)
	default:
		s.static, s.forward = p.static, p.forward
	}
	s.Took(a.run, a.plan.Label, fits)
	w.run.check.stocked(w)
}

// stocked checks V13 when Protect has given a program its data.
func (k *repairChecker) stocked(w *driver) {
	a, s := w.att, w.stock
	if s.static != staticOf(a.run.Rank, a.run.Size) {
		k.run.fail("V13", "process %d continues as rank %d of %d in attempt %d, and has not the static data of that rank", w.number, a.run.Rank, a.run.Size, a.run.Attempt)
	}
	if s.forward < a.step {
		k.run.fail("V13", "process %d continues at step %d, and its forward data are of step %d", w.number, a.step, s.forward)
	}
}

// dealt checks V13 when a part of a world of another size arrives.
func (k *repairChecker) dealt(w *driver, p keptPart, size int) {
	if p.static != staticOf(p.rank, size) {
		k.run.fail("V13", "process %d is dealt rank %d's part of %d, which has not the static data of that rank", w.number, p.rank, size)
	}
}

// roles checks V13 when an attempt begins: the lost ranks are exactly those of new processes.
func (k *repairChecker) roles(w *driver) {
	run, want := w.att.run, repair.Survivor
	switch {
	case w.settled:
	case w.isOfFirst():
		want = repair.Initial
	default:
		want = repair.Recovered
	}
	if run.Role != want || slices.Contains(run.Lost, run.Rank) != (want == repair.Recovered) {
		k.run.fail("V13", "process %d begins attempt %d with role %d and not %d, and the ranks %v are lost", w.number, run.Attempt, run.Role, want, run.Lost)
	}
}
