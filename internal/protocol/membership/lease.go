package membership

import (
	"math"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// beatsKept is for how many beats an answer may be waited for: more than a Timeout has.
const beatsKept = 16

// lease is this node's right to run (F5, F11).
//
//	member                              coordinator
//	  │── beat 7, names answer 3 ────────▶│  counts: answer 3 is younger than a Timeout
//	  │   sent at s                       │  granted = now
//	  │◀──────────── answer 4 to beat 7 ──│
//	  │  may run until s + Timeout        │  declares it not before granted + fenceAfter
//
// Each uses its own clock alone, and s is before granted, so the lease is over before its holder
// can be declared. A beat that names no fresh answer is answered, too, but not with a lease: a
// member that sends and does not receive must not live, and a member that was paused and receives
// again is granted the next lease.
type lease struct {
	until  mono.Time // by this member's clock
	frozen bool
	since  mono.Time // when it was frozen
	seq    uint64    // of the last beat
	sent   [beatsKept]mono.Time
	named  uint64 // the last answer's number; 0 if none in this epoch
}

// begin: the start of the job is the first grant. A late member has none.
func (l *lease) begin(cfg Config) {
	l.until = cfg.Start
	if !cfg.Late {
		l.until = cfg.Start.Add(cfg.Timeout)
	}
}

// deadline returns the time of the next check of the lease.
func (l *lease) deadline(r *Roster) mono.Time {
	switch {
	case r.cfg.needsNoLease():
		return math.MaxInt64
	case l.frozen:
		return l.since.Add(r.cfg.Orphan)
	}
	return l.until
}

// needsNoLease: a launcher that is the coordinator for ever cannot be on the losing side.
func (c Config) needsNoLease() bool { return c.Me == Launcher && !c.Survive }

// checkLease stops the ranks when the lease is over, and ends all when nobody has renewed
// it for too long.
func (r *Roster) checkLease() {
	l := &r.lease
	switch {
	case r.cfg.needsNoLease():
	case !l.frozen && r.now >= l.until:
		l.frozen, l.since = true, r.now
		r.act(Freeze{})
	case l.frozen && r.now >= l.since.Add(r.cfg.Orphan):
		r.end(r.now.Sub(l.since))
	}
}

// renew prolongs the lease, and thaws ranks that only the lease has stopped.
func (r *Roster) renew(until mono.Time) {
	l := &r.lease
	if until <= l.until || until <= r.now {
		return
	}
	l.until = until
	r.act(Lease{Until: until})
	if l.frozen {
		l.frozen = false
		r.act(Thaw{})
	}
}

func (r *Roster) sendBeat(coordinator int) {
	if r.isDead(coordinator) {
		return
	}
	l := &r.lease
	l.seq++
	l.sent[l.seq%beatsKept] = r.now
	wrote := r.voter.record
	r.sendDatagram(coordinator, beat{
		epoch: r.voter.follows, promised: r.voter.promised, seq: l.seq, named: l.named, wroteEpoch: wrote.Epoch, wroteVersion: wrote.version(),
	})
}

// hearGrant is an answer to a beat. Of two answers that overtake each other the later
// number counts; a lease is counted from the beat that it answers.
func (r *Roster) hearGrant(from int, m grant) {
	l := &r.lease
	if m.epoch != r.voter.follows || from != r.coordinatorMember() {
		return
	}
	l.named = max(l.named, m.number)
	if m.seq == 0 || m.seq > l.seq || l.seq-m.seq >= beatsKept || !m.lease {
		return
	}
	r.noteCoordinator(from, m.epoch)
	r.voter.quiet = r.now
	r.voter.supports = false
	r.renew(l.sent[m.seq%beatsKept].Add(r.cfg.Timeout))
}
