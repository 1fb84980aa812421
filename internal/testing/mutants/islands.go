package mutants

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// islands is the arena of a permanent partition, with detectors that let the majority continue
// (fd.Majority): some processes can no longer exchange messages with the others.
//
//	I2  one side continues
//	I6  no process is declared dead by its own side
//	I7  the two sides do not both continue
func islands(seed uint64, _ Hunt) *failure {
	w := newRing(seed, fd.Majority)
	var island rankset.Set
	for _, p := range w.rng.Perm(w.n)[:1+w.rng.IntN(w.n-1)] {
		island.Add(p)
	}
	at := w.someTime()
	w.plan(at, func() { w.island = island })
	each := w.cfg.Period + 2*w.cfg.Timeout + w.cfg.Confirm
	w.runUntil(at.Add(mono.Duration(w.n) * (each + w.delayMax)))
	var on [2]int
	for p := range w.n {
		switch {
		case !w.runs(p):
		case island.Has(p):
			on[0]++
		default:
			on[1]++
		}
	}
	switch {
	case on[0] > 0 && on[1] > 0:
		w.fail("I7", "%d of the island %v and %d of the others continue, of %d", on[0], island, on[1], w.n)
	case on == [2]int{}:
		w.fail("I2", "no process continues: island %v of %d", island, w.n)
	}
	return w.failure
}
