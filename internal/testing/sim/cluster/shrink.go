package cluster

import (
	"errors"
	"slices"
	"time"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/testing/sim/world"
)

// Shrunk is a small run that breaks the same invariant.
type Shrunk struct {
	Case  Case
	Error *Violation
	Tries int
}

// Shrink makes a failing run smaller, for at most as long as allowed: fewer processes, faults,
// calls and messages, and plain delays. The rest of the run breaks the same invariant.
//
// A removal leaves all other choices unchanged (see part), but the times of events change: there
// are fewer frames, and those that matter may arrive in another order. So each smaller run is also
// tried with its delays drawn anew, a few times at first, and more often when no other change
// helps.
func Shrink(v *Violation, allowed time.Duration) Shrunk {
	k := &shrinker{best: v.Case, found: v, until: time.Now().Add(allowed)}
	k.best.Breaks = v.Invariant
	k.anchor()
	k.keepFew()
	k.repeatedly(func() bool { return k.best.swarm.n <= few }, k.dropProcesses)
	k.repeatedly(func() bool { return false }, k.dropProcesses, k.dropFaults, k.dropCalls, k.simplify)
	return Shrunk{Case: k.best, Error: k.found, Tries: k.tries}
}

const (
	// redrawsMax bounds the number of times that the delays of one smaller run are drawn anew.
	redrawsMax = 400
	// few is the number of processes that a person can follow, and with which a run is fast. Above
	// this number only processes are removed at first.
	few = 8
)

// repeatedly removes items until enough returns true or no removal helps.
func (k *shrinker) repeatedly(enough func() bool, drops ...func()) {
	for k.redraws = 0; k.redraws <= redrawsMax && !k.over(); k.redraws = 4*k.redraws + 4 {
		for size := -1; size != k.size() && !k.over() && !enough(); {
			size = k.size()
			for _, drop := range drops {
				drop()
			}
		}
	}
}

type shrinker struct {
	best    Case
	found   *Violation
	tries   int
	redraws int
	until   time.Time
}

// size measures the case. Rounds of removals end when one leaves the size unchanged.
func (k *shrinker) size() int {
	size := 0
	for _, f := range k.best.swarm.fields() {
		if v, ok := f.value.(*int); ok {
			size += *v
		}
	}
	for _, calls := range k.best.calls {
		size += 10 * len(calls)
	}
	return size + 1000*len(k.best.Faults) + 10_000*k.best.swarm.n
}

func (k *shrinker) over() bool { return time.Now().After(k.until) }

// try keeps c if the case breaks the same invariant, with its delays unchanged or drawn anew.
func (k *shrinker) try(c Case) bool {
	for i := range k.redraws + 1 {
		if i > 0 {
			c.part.delays = uint64(k.tries) + 1
		}
		if k.over() {
			return false
		}
		if k.once(c) {
			return true
		}
	}
	return false
}

func (k *shrinker) once(c Case) bool {
	k.tries++
	_, err := c.Run(Options{})
	v, failed := errors.AsType[*Violation](err)
	if !failed || v.Invariant != k.best.Breaks {
		return false
	}
	k.best, k.found = v.Case, v // without the faults that did not happen
	k.best.Breaks = v.Invariant
	k.anchor()
	return true
}

// anchor counts the steps up to each fault from the latest call of the process. A count from the
// beginning would change with each removal.
func (k *shrinker) anchor() {
	k.best.Faults = slices.Clone(k.best.Faults)
	for i := range k.best.Faults {
		f := &k.best.Faults[i]
		f.After, f.Step = f.call, f.since
	}
}

// chunks calls drop for parts of a list: halves first, then quarters, and so on to single items.
// drop reports whether the items from lo to hi were removed, in which case the list is shorter by
// these.
func (k *shrinker) chunks(length func() int, drop func(lo, hi int) bool) {
	for part := (length() + 1) / 2; part > 0 && !k.over(); part /= 2 {
		for lo := 0; lo < length() && !k.over(); {
			if hi := min(lo+part, length()); !drop(lo, hi) {
				lo = hi
			}
		}
	}
}

// dropProcesses removes processes, in the order of their deaths, and the survivors last.
func (k *shrinker) dropProcesses() {
	k.chunks(func() int { return k.best.swarm.n }, func(lo, hi int) bool {
		leave := k.byDeath()[lo:hi]
		return k.best.swarm.n-len(leave) >= 2 && k.try(k.best.without(leave))
	})
}

// keepFew tries at once with few processes, those that live longest: many died before the relevant
// part began, and small runs are fast.
func (k *shrinker) keepFew() {
	k.redraws = redrawsMax
	for keep := few; keep < k.best.swarm.n; keep *= 2 {
		if k.try(k.best.without(k.byDeath()[:k.best.swarm.n-keep])) {
			return
		}
	}
}

// byDeath returns the processes in the order in which they die, and then the survivors.
func (k *shrinker) byDeath() []int {
	var order []int
	for _, f := range k.best.Faults {
		if f.Kind == Crash {
			order = append(order, f.Proc)
		}
	}
	for p := range k.best.swarm.n {
		if !slices.Contains(order, p) {
			order = append(order, p)
		}
	}
	return order
}

// without returns the case with processes removed, and the others numbered anew.
func (c Case) without(leave []int) Case {
	gone := func(proc int) bool { return slices.Contains(leave, proc) }
	number := make([]int, c.swarm.n)
	next := 0
	for proc := range number {
		number[proc] = next
		if !gone(proc) {
			next++
		}
	}
	c.part = c.part.without(c.swarm.n, gone)
	c.swarm.n = next
	faults := c.Faults
	c.Faults = nil
	for _, f := range faults {
		if gone(f.Proc) {
			continue
		}
		peers := f.Peers
		f.Proc, f.Peers = number[f.Proc], 0
		for proc, now := range number {
			if !gone(proc) && peers>>proc&1 == 1 {
				f.Peers |= 1 << now
			}
		}
		c.Faults = append(c.Faults, f)
	}
	return c
}

// dropFaults removes faults.
func (k *shrinker) dropFaults() {
	k.chunks(func() int { return len(k.best.Faults) }, func(lo, hi int) bool {
		c := k.best
		c.Faults = slices.Delete(slices.Clone(c.Faults), lo, hi)
		return k.try(c)
	})
}

// dropCalls removes calls, each at all members.
func (k *shrinker) dropCalls() {
	k.chunks(func() int { return len(k.best.planned()) }, func(lo, hi int) bool {
		return k.try(k.best.skipping(k.best.planned()[lo:hi]))
	})
}

// planned returns the calls that can be left out, in the order of processes and their calls.
func (c Case) planned() []skip {
	var all []skip
	for _, calls := range c.calls {
		for _, m := range calls {
			if m.what != opOther && !slices.Contains(all, m.skip) {
				all = append(all, m.skip)
			}
		}
	}
	return all
}

// skipping returns the case without some calls. The position of a fault is reduced by the number of
// calls before the fault that are left out.
func (c Case) skipping(skips []skip) Case {
	c.part.skips = append(slices.Clip(c.part.skips), skips...)
	c.Faults = slices.Clone(c.Faults)
	for i := range c.Faults {
		f := &c.Faults[i]
		for _, m := range c.calls[f.Proc][:f.call] {
			if slices.Contains(skips, m.skip) {
				f.After--
			}
		}
	}
	return c
}

// simplify makes the rest of the case as plain as possible.
func (k *shrinker) simplify() {
	changes := []func(c *Case){
		func(c *Case) { c.swarm.traffic = 0 },
		func(c *Case) { c.swarm.longs = 0 },
		func(c *Case) { c.swarm.creations = 0 },
		func(c *Case) { c.swarm.uniform = false },
		func(c *Case) { c.swarm.gatherings = 0 },
		func(c *Case) { c.swarm.revokes = 0 },
		func(c *Case) { c.swarm.tails = false },
		func(c *Case) { c.swarm.slowPairs = 0 },
		func(c *Case) { c.swarm.bursts = 1 },
		func(c *Case) { c.swarm.noticeDelay = world.MessageDelay / 5 },
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
