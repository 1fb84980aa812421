package fd

import (
	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// predecessor returns the nearest process before me on the ring of n that is not in the excluded
// set, or me when there is no other. This is FindEmitter of RR-9024, Algorithm 1, except that the
// search starts at me rather than at the last emitter: a process that was skipped because it was
// absent may have come (Came).
func predecessor(n, me int, gone rankset.Set) int {
	r := (me + n - 1) % n
	for r != me && gone.Has(r) {
		r = (r + n - 1) % n
	}
	return r
}

// successor returns the nearest process after me on the ring of n that is not in the excluded set,
// or me when there is no other.
func successor(n, me int, gone rankset.Set) int {
	r := (me + 1) % n
	for r != me && gone.Has(r) {
		r = (r + 1) % n
	}
	return r
}

// ahead returns how many steps r is ahead of me on the ring of n.
func ahead(n, me, r int) int { return (r - me + n) % n }

// rewire recomputes emitter and observer after any process has dropped out of the ring or joined
// it, from every source of that knowledge (B5, B12). T5 of the paper updates the list of the dead
// and nothing else:
//
//	4 observes 3, which observes 2. 3 dies, and 5, which had it under Watch, is the
//	first to declare it. 4 learns it from the flood, so its own timeout for 3 has
//	nothing left to find, and by T5 nobody ever observes 2 again.
func (d *Detector) rewire() {
	gone := d.gone()
	d.aim(gone)
	emitter := predecessor(d.cfg.N, d.cfg.Me, gone)
	if emitter == d.emitter {
		return
	}
	d.emitter = emitter
	d.silence.start(2 * d.cfg.Timeout) // T3, line 19
	if d.observation != nil {
		d.observation.of = nobody
	}
	if d.ringing() {
		d.mail(emitter, d.newObserverMessage())
	}
}

// newObserverMessage informs the emitter that this process observes it, and with Config.Adaptive of
// the requested period: at first the common initial period.
func (d *Detector) newObserverMessage() []byte {
	if d.cfg.Adaptive == nil {
		return digestMessage(kindNewObserver, d.flood.Digest())
	}
	return tellingMessage(kindNewObserver, d.flood.Digest(), adaptive.Adjust{Clock: adaptive.Time(d.now), Period: adaptive.Duration(d.cfg.Period)})
}

// aim recomputes the observer: the nearest live successor, or a farther process that claimed the
// role while the processes in between were not known here as dead (B2).
func (d *Detector) aim(gone rankset.Set) {
	if d.claim != d.cfg.Me && gone.Has(d.claim) {
		d.claim = d.cfg.Me
	}
	observer := successor(d.cfg.N, d.cfg.Me, gone)
	if d.claim != d.cfg.Me && ahead(d.cfg.N, d.cfg.Me, d.claim) > ahead(d.cfg.N, d.cfg.Me, observer) {
		observer = d.claim
	}
	d.turnTo(observer)
}

// adopt obeys a NEWOBSERVER (T4), unless the message is stale: from a process nearer than the
// present observer. A process that claims to observe me has declared all processes in between dead,
// or knows that they left or are absent. None of the dead and the left returns, so the process
// farther away knows more (B2).
//
//	0 is observed by 1, which dies. 2 declares it and sends NEWOBSERVER to 0, which
//	is slow, and dies. 3 declares 2 and sends NEWOBSERVER to 0. That arrives
//	first, then the one from 2. Obeyed, it would turn the heartbeats of 0 to the
//	dead 2, and 3 would suspect 0.
//
// The exception is a late process (Came), of which the farther process may not know. A claim from
// beyond a late process that is alive to local knowledge is therefore stale, too. If the late
// process has died meanwhile, the digests differ, and the answer informs both ends.
//
//	2 is not there yet, 3 observes 1: it has sent NEWOBSERVER, which is slow. 2 comes, and 1 turns
//	to it. Then that message arrives. Obeyed, 2 would suspect 1 again and again, and 3, which
//	observes 2 now, would get what it does not listen for.
func (d *Detector) adopt(from int) bool {
	if ahead(d.cfg.N, d.cfg.Me, from) < ahead(d.cfg.N, d.cfg.Me, d.observer) {
		return false
	}
	if d.skips(from) {
		return false
	}
	d.claim = from
	d.turnTo(from)
	return true
}

// skips reports whether a late process between this one and from is alive.
func (d *Detector) skips(from int) bool {
	for rank := range d.late.All() {
		if !d.isGone(rank) && ahead(d.cfg.N, d.cfg.Me, rank) < ahead(d.cfg.N, d.cfg.Me, from) {
			return true
		}
	}
	return false
}
