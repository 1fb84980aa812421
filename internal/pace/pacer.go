package pace

import "github.com/goulfm/goulfm/internal/mono"

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
type Pacer struct {
	prior    mono.Duration // of the MTBF; > 0
	observed mono.Duration // since the world began
	failures int           // since the world began
	cost     mono.Duration // of a commit, smoothed; 0 until one was measured
	point    mono.Duration // from one consistent point to the next, smoothed; 0 until measured
}

// New returns a Pacer with a prior for the mean time between the failures that this
// level protects from. 0 stands for Hour.
func New(prior mono.Duration) *Pacer {
	if prior <= 0 {
		prior = Hour
	}
	return &Pacer{prior: prior}
}

// Committed tells of one commit: it took cost, and before it the program computed for
// work, in which it passed so many consistent points (at least 1).
func (p *Pacer) Committed(work mono.Duration, points int, cost mono.Duration) {
	p.observed += work + cost
	p.cost = smooth(p.cost, cost)
	p.point = smooth(p.point, work/mono.Duration(max(points, 1)))
}

// Failed tells of so many failures that this level protects from, and of the time since
// the last commit or failure.
func (p *Pacer) Failed(failures int, since mono.Duration) {
	p.failures += failures
	p.observed += since
}

// MTBF returns the present estimate.
func (p *Pacer) MTBF() mono.Duration { return MTBF(p.observed, p.prior, p.failures) }

// Interval returns the advised time between two commits; 0 if none was measured.
func (p *Pacer) Interval() mono.Duration { return Interval(p.cost, p.MTBF()) }

// Points returns the interval that this process wants, in consistent points: at least
// 1, at most Longest; 1 until a commit was measured.
func (p *Pacer) Points() int {
	if p.cost == 0 {
		return 1
	}
	if p.point == 0 {
		return Longest
	}
	return int(min(max(p.Interval()/p.point, 1), Longest))
}

func smooth(old, sample mono.Duration) mono.Duration {
	if old == 0 {
		return sample
	}
	return old + (sample-old)/forget
}
