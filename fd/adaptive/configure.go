package adaptive

import "math"

// Network is what is known of the way from one process to another.
type Network struct {
	Loss      float64  // that a beat is lost (p1), in [0, 1)
	LossAgain float64  // that one is lost after a lost one (p2); below Loss it counts as Loss
	Variance  float64  // of the delay (V), in s²
	RTT       Duration // there and back; bounds the mean delay
}

// points is how many periods the configurator tries before it bisects.
const points = 256

// Configure returns the longest period with which a detector on network n is as good as q
// asks, and the shift that belongs to it; false if there is none, and then the least period
// that l allows (Chen, Toueg, Aguilera, section 6.2.2). It needs no distribution of the
// delay, only the variance V: by Cantelli's inequality
//
//	Pr(D > E(D)+t) <= V / (V+t²)
//
// With T the time to suspect (see TimeToSuspect), η is the greatest one at most η_max such that
// the mean time between mistakes is at least T_MR:
//
//	η_max = min(T_M·(1-p1)·T²/(V+T²), T/Beats)
//	f(η)  = η · Π (V+d²)/(V+P·d²)   over j = 1 .. ⌈T/η⌉-1, d = T-jη, P = p1 for j = 1, else p2
func Configure(n Network, q QoS, l Limits) (Setting, bool) {
	q, l = q.WithDefaults(), l.WithDefaults(q)
	m := newModel(n, q, l)
	period, ok := m.longest(l.PeriodMin.Seconds(), q.Recurrence.Seconds())
	eta := max(l.PeriodMin, whole(fromSeconds(period)))
	return Setting{Period: eta, Shift: TimeToSuspect(n, q, l) - eta}, ok
}

// TimeToSuspect returns T: how long after the expected arrival of its last beat a process is
// suspected, which is Setting.Period + Setting.Shift. What is left of the detection time is
// for the beat to travel (at most RTT) and for the suspect to answer (Limits.Confirm).
// Where these take more than half of it, T is half of it, and the detection time is missed.
func TimeToSuspect(n Network, q QoS, l Limits) Duration {
	q, l = q.WithDefaults(), l.WithDefaults(q)
	return max(q.Detection-n.RTT-max(l.Confirm, 0), q.Detection/2)
}

// model is a network and T, in seconds, with what the formulas need.
type model struct {
	p1, p2, v, t float64
	etaMax       float64
	inTime       bool // T leaves time for the beat and the answer
}

func newModel(n Network, q QoS, l Limits) model {
	m := model{p1: n.Loss, p2: max(n.Loss, n.LossAgain), v: n.Variance, t: TimeToSuspect(n, q, l).Seconds()}
	m.inTime = m.t <= (q.Detection - n.RTT - max(l.Confirm, 0)).Seconds()
	m.etaMax = min(q.Duration.Seconds()*m.onTime(), m.t/float64(l.Beats))
	return m
}

// onTime bounds from below the probability that a beat comes, and within T.
func (m model) onTime() float64 { return (1 - m.p1) * m.t * m.t / (m.v + m.t*m.t) }

// recurrence is f(η), or some value above enough as soon as it is known to be.
func (m model) recurrence(eta, enough float64) float64 {
	f, p := eta, m.p1
	last := math.Ceil(m.t/eta) - 1
	for j := 1.0; j <= last && f < enough; j++ {
		d := m.t - j*eta
		f *= (m.v + d*d) / (m.v + p*d*d) // at least 1: p is at most 1
		p = m.p2
	}
	return f
}

// longest returns the greatest period of at least least with a recurrence of enough.
//
// f does not simply fall: it falls while ⌈T/η⌉ stays, and its slope jumps where that
// changes. So points are tried from above before the interval is bisected; bisecting at
// once could end far below the answer.
func (m model) longest(least, enough float64) (float64, bool) {
	if !m.inTime || m.etaMax < least {
		return least, false
	}
	ratio := math.Pow(least/m.etaMax, 1.0/(points-1))
	below, above := m.etaMax, m.etaMax
	for range points {
		if m.recurrence(below, enough) >= enough {
			return m.bisect(below, above, enough), true
		}
		above, below = below, max(below*ratio, least)
	}
	return least, false
}

// bisect returns the greatest period with a recurrence of enough between one that has it
// and one that has not.
func (m model) bisect(good, bad, enough float64) float64 {
	for range 50 {
		middle := (good + bad) / 2
		if m.recurrence(middle, enough) >= enough {
			good = middle
		} else {
			bad = middle
		}
	}
	return good
}

// quality is what the formulas promise of a period.
func (m model) quality(eta float64) Quality {
	return Quality{Recurrence: fromSeconds(m.recurrence(eta, math.Inf(1))), Duration: fromSeconds(eta / m.onTime())}
}
