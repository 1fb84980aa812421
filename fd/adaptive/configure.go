package adaptive

import "math"

// Network describes the path from one process to another.
type Network struct {
	Loss      float64  // that a beat is lost (p1), in [0, 1)
	LossAgain float64  // that a beat is lost after a lost beat (p2); values below Loss count as Loss
	Variance  float64  // of the delay (V), in s²
	RTT       Duration // there and back; bounds the mean delay
}

// points is the number of periods that the configurator tries before it bisects.
const points = 256

// Configure returns the longest period with which a detector on network n meets q, and the
// corresponding shift (Chen, Toueg, Aguilera, section 6.2.2). Without such a period the result is
// false, with the least period that l allows. Configure needs no distribution of the delay, only
// the variance V: by Cantelli's inequality
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
// suspected, which is Setting.Period + Setting.Shift. The rest of the detection time is for the
// beat to travel (at most RTT) and for the suspect to answer (Limits.Confirm). Where these take
// more than half of the detection time, T is half of the detection time, which is then missed.
func TimeToSuspect(n Network, q QoS, l Limits) Duration {
	q, l = q.WithDefaults(), l.WithDefaults(q)
	return max(q.Detection-n.RTT-max(l.Confirm, 0), q.Detection/2)
}

// model is a network and T, in seconds, with the inputs of the formulas.
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

// recurrence returns f(η), or any value of at least enough as soon as the product has reached
// enough.
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
// f is not monotonic: f falls while ⌈T/η⌉ stays, and its slope jumps where that changes. So points
// are tried from above before the interval is bisected; bisecting at once could end far below the
// answer.
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

// bisect returns the greatest period with a recurrence of enough, between a good period that has
// this recurrence and a bad period that has not.
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

// quality returns the bounds of the formulas for a period.
func (m model) quality(eta float64) Quality {
	return Quality{Recurrence: fromSeconds(m.recurrence(eta, math.Inf(1))), Duration: fromSeconds(eta / m.onTime())}
}
