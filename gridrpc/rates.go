package gridrpc

import "time"

// rates is what a server knows of how long its bodies take.
type rates struct {
	perSecond float64 // units of work, of one body; 0 is not known
}

// smoothing is the weight of the latest body in the mean.
const smoothing = 0.25

// add takes a body of so much work.
func (r *rates) add(work float64, took time.Duration) {
	if work <= 0 || took <= 0 {
		return
	}
	now := work / took.Seconds()
	if r.perSecond == 0 {
		r.perSecond = now
		return
	}
	r.perSecond += smoothing * (now - r.perSecond)
}
