package server

import "time"

// rates holds measured speeds of the bodies of a service.
type rates struct {
	perSecond float64 // units of work, of one body; 0 is not known
	took      float64 // seconds, of one body; 0 is not known
}

// smoothing is the weight of the latest body in the mean.
const smoothing = 0.25

// add adds the measurement of one body.
func (r *rates) add(work float64, took time.Duration) {
	if work <= 0 || took <= 0 {
		return
	}
	smooth(&r.perSecond, work/took.Seconds())
	smooth(&r.took, took.Seconds())
}

func smooth(mean *float64, now float64) {
	if *mean == 0 {
		*mean = now
		return
	}
	*mean += smoothing * (now - *mean)
}
