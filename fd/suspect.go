package fd

import (
	"slices"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/base/rankset"
)

// A stage of a check. The usual course is suspected, then declared, or unanswered without
// Config.Fence; a sign of life ends the check at any stage before the declaration.
type stage uint8

const (
	watched    stage = iota // probed on demand (A21, B9); silence until the timer's end makes the rank suspected
	suspected               // probed as the second check (B10); silence until the timer's end confirms the suspicion
	unanswered              // confirmed, but this process may not declare it: waiting for others' evidence
)

func (s stage) String() string {
	switch s {
	case watched:
		return "watched"
	case suspected:
		return "suspected"
	}
	return "unanswered"
}

// A check is an open question whether one process lives. In Ring mode a probe has been sent, and
// the timer runs. In Exact mode there is neither: the caller has to supply evidence (B19).
type check struct {
	rank  int
	stage stage
	timer timer
	quiet mono.Duration // silence before the suspicion
}

// tick is everything that time does: T1, T3 and the confirmation of suspicions.
func (d *Detector) tick(now mono.Time) {
	now = max(now, d.now)
	d.forgiveLateness(now)
	d.now = now
	if !d.ringing() {
		return
	}
	d.tickTimers()
	d.beat()
	d.confirmChecks()
	if d.fenced {
		return
	}
	if d.silence.expired(now) && !d.suspects(d.emitter) {
		d.suspect(d.emitter, now.Sub(d.silence.since))
	}
	d.lookBehind()
	if d.ringing() {
		d.beat() // to an observer that this Tick has found, with Config.Adaptive
	}
	d.tickTimers()
}

// forgiveLateness guards against the slowness of this process (B10, B17). While this process was
// stopped, its emitter's heartbeats lie unread in its queues: time without listening is not
// silence.
func (d *Detector) forgiveLateness(now mono.Time) {
	wanted, ok := d.Deadline()
	if !ok {
		return
	}
	late := now.Sub(wanted)
	d.drift = max(d.drift, late)
	harmless, o := late <= d.lateAtMost(), d.observation
	if o != nil {
		o.wasLate, o.late = o.late, !harmless
	}
	if harmless {
		return
	}
	d.silence.delay(late)
	if o != nil {
		o.mercy = d.silence.at
	}
	for i := range d.checks {
		d.checks[i].timer.delay(late)
	}
}

func (d *Detector) tickTimers() {
	d.silence.tick(d.now)
	if d.observation != nil {
		d.observe()
	}
	for i := range d.checks {
		d.checks[i].timer.tick(d.now)
	}
}

// beat is T1. Beats that a late process missed are not made up for.
func (d *Detector) beat() {
	if d.observation != nil {
		d.beatAsRequested()
		return
	}
	if d.now < d.nextBeat {
		return
	}
	d.nextBeat = d.nextBeat.Add(d.cfg.Period)
	if d.nextBeat <= d.now {
		d.nextBeat = d.now.Add(d.cfg.Period)
	}
	d.mail(d.observer, digestMessage(kindHeartbeat, d.flood.Digest()))
}

// signOfLife is T2, for any message from the emitter. A message from another process only ends a
// check (B1): a heartbeat of a former emitter, still in flight when the ring was rewired, is no
// evidence about the present emitter.
func (d *Detector) signOfLife(rank int, told adaptive.Message) {
	d.endCheck(rank)
	if rank != d.emitter {
		return
	}
	d.breadth, d.behind = 1, d.cfg.Me
	if d.observation != nil {
		d.hear(told)
		return
	}
	d.silence.prolong(d.cfg.Timeout)
}

// broken turns a failed connection into a suspicion (B19). Outside the ring no second check is
// timed: the caller receives the suspicion and has to supply evidence.
func (d *Detector) broken(rank int) {
	d.checkPeer(rank)
	if d.isGone(rank) || d.suspects(rank) {
		return
	}
	var quiet mono.Duration
	if d.ringing() && rank == d.emitter && d.silence.ticked {
		quiet = d.now.Sub(d.silence.since)
	}
	d.suspect(rank, quiet)
}

// watch probes a process on demand (A21), unless a check is open. The emitter is observed anyway.
func (d *Detector) watch(rank int) {
	d.checkPeer(rank)
	if !d.ringing() || d.isGone(rank) || rank == d.emitter {
		return
	}
	if _, open := d.findCheck(rank); !open {
		d.open(check{rank: rank, stage: watched}, d.cfg.Timeout)
	}
}

// suspect is where T3 begins: no death yet, but a second check (B10).
func (d *Detector) suspect(rank int, quiet mono.Duration) {
	d.out = append(d.out, Suspect{Rank: rank, Silent: quiet})
	d.open(check{rank: rank, stage: suspected, quiet: quiet}, d.cfg.Confirm)
}

// open sends a probe and starts the time for the answer, in Ring mode. A check of the same process
// is replaced.
func (d *Detector) open(c check, wait mono.Duration) {
	c.timer.start(wait)
	i, found := d.findCheck(c.rank)
	if found {
		d.checks[i] = c
	} else {
		d.checks = slices.Insert(d.checks, i, c)
	}
	d.mail(c.rank, digestMessage(kindProbe, d.flood.Digest()))
}

func (d *Detector) endCheck(rank int) {
	if i, open := d.findCheck(rank); open {
		d.checks = slices.Delete(d.checks, i, i+1)
	}
}

func (d *Detector) suspects(rank int) bool {
	i, open := d.findCheck(rank)
	return open && d.checks[i].stage != watched
}

// lookBehind watches the predecessors of a silent emitter, so that they are not found
// dead one after the other (B9): one behind the first, two behind the second, and twice
// as many behind each further emitter that is silent in its turn. So f neighbours that
// died together are found in 1+⌈log2 f⌉ rounds, by watching fewer than 4f.
//
//	1 to 64 die at once, 65 observes 64. One by one, each death costs 65 the 2
//	Timeouts that the next emitter has to answer NEWOBSERVER, and a Confirm: 63 times.
//	Watched, 63 is suspected one Timeout after 64, then 62 and 61 one Timeout later.
func (d *Detector) lookBehind() {
	if d.behind == d.emitter || !d.suspects(d.emitter) {
		return
	}
	d.behind = d.emitter
	gone, p := d.gone(), d.emitter
	for more := d.breadth; more > 0; {
		p = predecessor(d.cfg.N, p, gone)
		if p == d.cfg.Me || p == d.emitter {
			break
		}
		if _, open := d.findCheck(p); !open {
			d.watch(p)
			more--
		}
	}
	d.breadth = min(2*d.breadth, d.cfg.N)
}

// confirmChecks acts on the expired checks: each moves to a later stage, or ends in a declaration.
// Deaths that become certain together are flooded together.
func (d *Detector) confirmChecks() {
	var certain rankset.Set
	for i := range d.checks {
		c := &d.checks[i]
		if c.stage == unanswered || !c.timer.expired(d.now) {
			continue
		}
		silent := c.quiet + d.now.Sub(c.timer.since)
		switch {
		case c.stage == watched:
			d.suspect(c.rank, silent)
		case d.cfg.Fence:
			certain.Add(c.rank)
		default:
			c.stage = unanswered
			d.out = append(d.out, Suspect{Rank: c.rank, Silent: silent, Unanswered: true})
		}
	}
	if !certain.IsEmpty() {
		d.learn(certain, BySilence)
	}
}
