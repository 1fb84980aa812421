package commitinterval

import "github.com/goulfm/goulfm/internal/base/mono"

// Hour is the prior for failures of processes if a program names none: one an hour.
// Nodes fail more seldom, one a Day.
const (
	Hour = 3600 * mono.Second
	Day  = 24 * Hour
)

// forget is the weight of what was measured last: 1 of forget. The cost of a commit
// changes with what is protected, and one slow commit is no reason to commit seldom.
const forget = 4

// Pacer measures, at one process, what the formulas need for one level of protection
// (node memory, partners, files), and says which interval this process wants. Each
// level has its own cost and its own kind of failure.
//
// It observes from when it was made on, whatever the program does meanwhile: also what an
// attempt computes that is lost, and what a repair takes, is time without another failure.
// If only time counted that led to a commit, failures would seem more frequent than they
// are, the more so the more of them there are.
type Pacer struct {
	prior    mono.Duration // of the MTBF; > 0
	begun    mono.Time     // when it began to observe
	failures int           // since then
	cost     mono.Duration // of a commit, smoothed; 0 until one was measured
	point    mono.Duration // from one consistent point to the next, smoothed; 0 until measured
	cold     bool          // nothing was committed since the program was begun, or begun again
}

// New returns a Pacer that observes from now on, with a prior for the mean time between the
// failures that this level protects from. 0 stands for Hour.
func New(prior mono.Duration, now mono.Time) *Pacer {
	if prior <= 0 {
		prior = Hour
	}
	return &Pacer{prior: prior, begun: now, cold: true}
}

// Resumed says that the program begins again, after a failure: the first stretch of work is not
// like others. Somebody is new there, whose memory and caches are, too, and all wait for that one.
func (p *Pacer) Resumed() { p.cold = true }

// Committed tells of one commit: it took cost, and before it the program computed for
// work, in which it passed so many consistent points (at least 1). The first one since the
// program has begun, or begun again, is no measure.
func (p *Pacer) Committed(work mono.Duration, points int, cost mono.Duration) {
	if p.cold {
		p.cold = false
		return
	}
	p.cost = smooth(p.cost, cost)
	p.point = smooth(p.point, work/mono.Duration(max(points, 1)))
}

// Failed tells of so many failures that this level protects from. One that this process has
// replaced somebody after is not among them: it was before the process began to observe.
func (p *Pacer) Failed(failures int) { p.failures += failures }

// MTBF returns the present estimate.
func (p *Pacer) MTBF(now mono.Time) mono.Duration {
	return MTBF(now.Sub(p.begun), p.prior, p.failures)
}

// Interval returns the advised time between two commits; 0 if none was measured.
func (p *Pacer) Interval(now mono.Time) mono.Duration { return Interval(p.cost, p.MTBF(now)) }

// Measured says whether a commit was measured. One process in a world where others have measured
// some has nothing to say before it has, too: its requested interval would be the least of all.
func (p *Pacer) Measured() bool { return p.cost > 0 }

// Points returns the interval that this process wants, in consistent points: at least
// 1, at most Longest; 1 until a commit was measured.
func (p *Pacer) Points(now mono.Time) int {
	if !p.Measured() {
		return 1
	}
	if p.point == 0 {
		return Longest
	}
	return int(min(max(p.Interval(now)/p.point, 1), Longest))
}

func smooth(old, sample mono.Duration) mono.Duration {
	if old == 0 {
		return sample
	}
	return old + (sample-old)/forget
}
