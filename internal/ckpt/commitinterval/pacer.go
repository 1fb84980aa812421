package commitinterval

import "github.com/goulfm/goulfm/internal/base/mono"

// Hour is the prior for failures of processes if a program names none: one failure an hour.
// Nodes fail less often, once a Day.
const (
	Hour = 3600 * mono.Second
	Day  = 24 * Hour
)

// forget sets the weight of the newest measurement to 1/forget. The cost of a commit changes with
// the protected data, and one slow commit must not make commits rare.
const forget = 4

// Pacer measures, at one process, the input of the formulas for one level of protection
// (node memory, partners, files), and computes the interval that this process requests. Each
// level has its own cost and its own kind of failure.
//
// The observed time starts when the Pacer is made and never pauses. So the work of an attempt that
// is lost and the time of a repair count, too, as time without another failure. If only time that
// leads to a commit counted, failures would seem more frequent than they are. The error would grow
// with their number.
type Pacer struct {
	prior    mono.Duration // of the MTBF; > 0
	begun    mono.Time     // start of the observed time
	failures int           // since then
	cost     mono.Duration // of a commit, smoothed; 0 until one was measured
	point    mono.Duration // from one consistent point to the next, smoothed; 0 until measured
	cold     bool          // nothing was committed since the program has begun, or begun again
}

// New returns a Pacer that observes from now on. prior is the assumed mean time between the
// failures from which this level protects. 0 stands for Hour.
func New(prior mono.Duration, now mono.Time) *Pacer {
	if prior <= 0 {
		prior = Hour
	}
	return &Pacer{prior: prior, begun: now, cold: true}
}

// Resumed notes that the program begins again after a failure. The first stretch of work is not
// representative: a new process with new memory and cold caches takes part, and all wait for that
// process.
func (p *Pacer) Resumed() { p.cold = true }

// Committed records one commit, which took cost. Before it the program computed for work, and
// passed the given number of consistent points (at least 1). The first commit since the program has
// begun, or begun again, is not measured.
func (p *Pacer) Committed(work mono.Duration, points int, cost mono.Duration) {
	if p.cold {
		p.cold = false
		return
	}
	p.cost = smooth(p.cost, cost)
	p.point = smooth(p.point, work/mono.Duration(max(points, 1)))
}

// Failed records a number of failures from which this level protects. The failure after which this
// process replaced another is not among them: it precedes the observed time.
func (p *Pacer) Failed(failures int) { p.failures += failures }

// MTBF returns the present estimate.
func (p *Pacer) MTBF(now mono.Time) mono.Duration {
	return MTBF(now.Sub(p.begun), p.prior, p.failures)
}

// Interval returns the advised time between two commits; 0 if none was measured.
func (p *Pacer) Interval(now mono.Time) mono.Duration { return Interval(p.cost, p.MTBF(now)) }

// Measured reports whether a commit was measured. A process that has measured none requests no
// interval in a world where others have: its request would be the least of all.
func (p *Pacer) Measured() bool { return p.cost > 0 }

// Points returns the interval that this process requests, in consistent points: at least
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
