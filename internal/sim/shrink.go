package sim

import (
	"errors"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/mono"
)

// Shrunk is a small run that breaks the same invariant.
type Shrunk struct {
	Case  Case
	Error *Violation
	Tries int
}

// Shrink makes a failing run smaller, for at most as long as allowed: fewer
// faults, fewer processes, less traffic, no delays. What is left breaks the same
// invariant. Where taking away is not enough it tries other seeds on the smaller
// run: the choices that matter may sit on processes that are not there any more.
func Shrink(v *Violation, allowed time.Duration) Shrunk {
	k := &shrinker{best: v.Case, found: v, until: time.Now().Add(allowed)}
	k.best.Breaks = v.Invariant
	for size := -1; size != k.size() && !k.over(); {
		size = k.size()
		k.dropProcesses()
		k.dropFaults()
		k.simplify()
	}
	return Shrunk{Case: k.best, Error: k.found, Tries: k.tries}
}

type shrinker struct {
	best  Case
	found *Violation
	tries int
	until time.Time
}

// size is what gets smaller.
func (k *shrinker) size() int {
	size := 0
	for _, f := range k.best.swarm.fields() {
		if v, ok := f.value.(*int); ok {
			size += *v
		}
	}
	return size + 1000*len(k.best.Faults) + 10_000*k.best.swarm.n
}

func (k *shrinker) over() bool { return time.Now().After(k.until) }

// try keeps c if it breaks the same invariant.
func (k *shrinker) try(c Case) bool {
	if k.over() {
		return false
	}
	k.tries++
	_, err := c.Run(Options{})
	v, failed := errors.AsType[*Violation](err)
	if !failed || v.Invariant != k.best.Breaks {
		return false
	}
	c.Breaks, c.Faults = k.best.Breaks, v.Case.Faults // those that did not come to pass are gone
	k.best, k.found = c, v
	return true
}

// dropFaults takes faults away: first halves, then quarters, and so on to one.
func (k *shrinker) dropFaults() {
	for share := 2; ; share *= 2 {
		part := max(len(k.best.Faults)/share, 1)
		for at := 0; at < len(k.best.Faults); {
			c := k.best
			c.Faults = slices.Delete(slices.Clone(c.Faults), at, min(at+part, len(c.Faults)))
			if !k.try(c) {
				at += part
			}
		}
		if part == 1 {
			return
		}
	}
}

const (
	// few processes are what a person can follow.
	few = 8
	// reseeds is how many other seeds a smaller run is tried with; a rare schedule
	// needs more to be found among few processes.
	reseeds, reseedsRare = 300, 100_000
)

// dropProcesses lowers the number of processes, by much first. If that does not
// get it down to few, few it must be: most of the time goes there.
func (k *shrinker) dropProcesses() {
	for n := 2; n < min(k.best.swarm.n, few) && !k.over(); n++ {
		if k.dropTo(n, reseeds) {
			return
		}
	}
	if k.best.swarm.n > few {
		k.dropTo(few, reseedsRare)
	}
}

func (k *shrinker) dropTo(n, seeds int) bool {
	c := k.best
	c.swarm.n = n
	c.Faults = slices.DeleteFunc(slices.Clone(c.Faults), func(f Fault) bool { return f.Proc >= n })
	return k.try(c) || k.reseed(c, seeds)
}

// reseed draws faults and choices anew on a run of the size of c.
func (k *shrinker) reseed(c Case, seeds int) bool {
	for i := range uint64(seeds) {
		if k.over() {
			return false
		}
		k.tries++
		s := c.swarm
		_, err := Run(Options{Seed: c.Seed + i + 1, Watchdog: c.Watchdog, Flaws: c.Flaws, like: &s})
		if v, failed := errors.AsType[*Violation](err); failed && v.Invariant == k.best.Breaks {
			v.Case.Breaks = k.best.Breaks
			k.best, k.found = v.Case, v
			return true
		}
	}
	return false
}

// simplify makes what is left as plain as it can be.
func (k *shrinker) simplify() {
	changes := []func(c *Case){
		func(c *Case) { c.swarm.traffic = 0 },
		func(c *Case) { c.swarm.creations = 0 },
		func(c *Case) { c.swarm.uniform = false },
		func(c *Case) { c.swarm.gatherings = 0 },
		func(c *Case) { c.swarm.revokes = 0 },
		func(c *Case) { c.swarm.tails = false },
		func(c *Case) { c.swarm.slowPairs = 0 },
		func(c *Case) { c.swarm.bursts = 1 },
		func(c *Case) { c.swarm.noticeDelay = messageDelay / 5 },
		func(c *Case) { c.swarm.closes = !c.swarm.closes },
		func(c *Case) { c.swarm.agreements = max(c.swarm.agreements/2, 1) },
		func(c *Case) { c.swarm.agreements = max(c.swarm.agreements-1, 1) },
	}
	for i := range k.best.Faults {
		changes = append(changes,
			func(c *Case) { c.edit(i, func(f *Fault) { f.Part = 1000 }) },
			func(c *Case) { c.edit(i, func(f *Fault) { f.Lose, f.Cascaded = false, false }) },
			func(c *Case) { c.edit(i, func(f *Fault) { f.LastWords = false }) },
			func(c *Case) { c.edit(i, func(f *Fault) { f.For = max(f.For/2, min(f.For, mono.Microsecond)) }) },
		)
	}
	for _, change := range changes {
		c := k.best
		c.Faults = slices.Clone(c.Faults)
		if change(&c); c.Script() != k.best.Script() {
			k.try(c)
		}
	}
}

func (c *Case) edit(fault int, change func(*Fault)) {
	if fault < len(c.Faults) {
		change(&c.Faults[fault])
	}
}
