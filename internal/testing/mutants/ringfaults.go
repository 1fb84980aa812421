package mutants

import (
	"github.com/goulfm/goulfm/fd"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// planFaults draws the faults of the run: deaths, and one or two more kinds of faults.
func (w *ring) planFaults() {
	spared := w.rng.IntN(w.n) // neither dies nor stops
	if w.rng.IntN(6) > 0 {
		w.planDeaths(spared)
	}
	one, other := w.rng.IntN(5), w.rng.IntN(5)
	w.broken = one == 3 || other == 3
	for _, kind := range []int{one, other} {
		switch kind {
		case 0:
			w.planPauses(spared)
		case 1:
			w.planLongPauses(spared)
		case 2:
			w.planLeaves(spared)
		case 3:
			w.planBrokenLinks()
		case 4:
			w.planWatches()
		}
	}
}

func (w *ring) someTime() mono.Time { return mono.Time(w.rng.Int64N(int64(faultsEnd))) }

// planDeaths kills processes, in half of the runs neighbours on the ring: at one moment, within
// one Timeout or at any time, and also during the sends of a step. Some survivors may get exact
// evidence, as on the node of the dead.
func (w *ring) planDeaths(spared int) {
	count := 1 + w.rng.IntN(w.n-1)
	victims := w.rng.Perm(w.n)[:count]
	if first := w.rng.IntN(w.n); w.rng.IntN(2) == 0 {
		for i := range victims {
			victims[i] = (first + i) % w.n
		}
	}
	together, spread, evident := w.someTime(), w.rng.IntN(3), w.rng.IntN(2) == 0
	for _, p := range victims {
		at := together
		switch spread {
		case 1:
			at = at.Add(mono.Duration(w.rng.Int64N(int64(w.cfg.Timeout))))
		case 2:
			at = w.someTime()
		}
		if p == spared {
			continue
		}
		w.deaths++
		if at < faultsEnd && w.rng.IntN(2) == 0 {
			w.plan(at, func() { w.doomed[p] = 1 + w.rng.IntN(5) })
			at = at.Add(w.cfg.Timeout)
		}
		w.plan(at, func() { w.kill(p) })
		w.lastFault = max(w.lastFault, at)
		if evident {
			w.planEvidence(p, at)
		}
	}
}

func (w *ring) planEvidence(dead int, at mono.Time) {
	for q := range w.n {
		if q != dead && w.rng.IntN(3) == 0 {
			w.plan(at.Add(mono.Duration(w.rng.Int64N(int64(4*w.delayMax)))), func() { w.deliver(q, fd.Exited{Rank: dead}) })
		}
	}
}

func (w *ring) kill(p int) {
	if w.runs(p) {
		w.ended.Add(p)
		w.lastFault = max(w.lastFault, w.now)
	} else if !w.ended.Has(p) {
		w.deaths-- // p had left, or was fenced
	}
}

// planPauses stops processes for no longer than accuracy allows, often the same process
// repeatedly.
func (w *ring) planPauses(spared int) {
	longest := w.cfg.Timeout + w.cfg.Confirm - 2*w.cfg.Period - w.delayMax
	if w.broken {
		longest = max(1, w.cfg.Confirm-w.cfg.Period-2*w.delayMax)
	}
	p := w.rng.IntN(w.n)
	at := w.someTime()
	for range 1 + w.rng.IntN(8) {
		pause := mono.Duration(w.rng.Int64N(int64(longest)))
		if p != spared {
			w.plan(at, func() { w.stop(p, pause) })
			w.paused += pause
		}
		at = at.Add(pause + mono.Duration(w.rng.Int64N(int64(w.cfg.Confirm))))
		if w.rng.IntN(3) == 0 {
			p, at = w.rng.IntN(w.n), w.someTime()
		}
	}
}

// planLongPauses stops processes for so long that others declare them dead.
func (w *ring) planLongPauses(spared int) {
	for range 1 + w.rng.IntN(3) {
		p, pause := w.rng.IntN(w.n), mono.Duration(1+w.rng.IntN(8))*mono.Second
		if p != spared {
			at := w.someTime()
			w.plan(at, func() { w.stop(p, pause) })
			w.absent.Add(p)
			w.paused += pause
			w.lastFault = max(w.lastFault, at.Add(pause))
		}
	}
}

// stop freezes p. After the pause p first receives either a Tick or the events that came
// meanwhile. A process that may be declared dead anyway may be stopped again right after that
// Tick.
func (w *ring) stop(p int, pause mono.Duration) {
	if w.now < w.until[p] || !w.runs(p) {
		return
	}
	w.until[p] = w.now.Add(pause)
	w.plan(w.until[p], func() {
		late := w.backlog[p]
		w.backlog[p] = nil
		if w.rng.IntN(2) == 0 {
			w.step(p, fd.Tick{Now: w.now})
			if again := mono.Duration(w.rng.Int64N(int64(w.cfg.Timeout))); w.absent.Has(p) && w.rng.IntN(2) == 0 {
				w.backlog[p] = late
				w.paused += again
				w.lastFault = max(w.lastFault, w.now.Add(again))
				w.stop(p, again)
				return
			}
		}
		for _, ev := range late {
			w.step(p, ev)
		}
		w.step(p, fd.Tick{Now: w.now})
	})
}

// planLeaves makes processes leave in order. The others are notified in time.
func (w *ring) planLeaves(spared int) {
	for range 1 + w.rng.IntN(2) {
		p := w.rng.IntN(w.n)
		if p == spared {
			continue
		}
		w.plan(w.someTime(), func() {
			if !w.runs(p) || w.now < w.until[p] {
				return
			}
			w.step(p, fd.Left{Rank: p})
			w.left.Add(p)
			w.lastFault = max(w.lastFault, w.now)
			for q := range w.n {
				if q != p {
					at := w.now.Add(mono.Duration(w.rng.Int64N(int64(w.cfg.Timeout / 4))))
					w.plan(at, func() { w.deliver(q, fd.Left{Rank: p}) })
				}
			}
		})
	}
}

// planBrokenLinks reports broken connections, also between live processes.
func (w *ring) planBrokenLinks() {
	for range 1 + w.rng.IntN(20) {
		p, q := w.rng.IntN(w.n), w.rng.IntN(w.n)
		if p != q {
			w.plan(w.someTime(), func() { w.deliver(p, fd.Broken{Rank: q}) })
		}
	}
}

// planWatches makes a process watch others repeatedly to the end of the run, for traffic besides
// the heartbeats.
func (w *ring) planWatches() {
	p := w.rng.IntN(w.n)
	var watched rankset.Set
	for range 1 + w.rng.IntN(3) {
		if q := w.rng.IntN(w.n); q != p {
			watched.Add(q)
		}
	}
	every := w.cfg.Timeout / 4
	var again func()
	again = func() {
		for q := range watched.All() {
			if !w.known[p].Has(q) && !w.left.Has(q) {
				w.deliver(p, fd.Watch{Rank: q})
			}
		}
		w.plan(w.now.Add(every), again)
	}
	w.plan(0, again)
}
