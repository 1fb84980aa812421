package adaptive

import (
	"errors"
	"fmt"
)

// ErrQoS is wrapped by every error of QoS.Check and Limits.Check.
var ErrQoS = errors.New("quality of detection")

// QoS is the quality that an observer requires of the detection of one process: the three
// requirements of Chen, Toueg and Aguilera (section 2.2). Zero fields mean defaults.
type QoS struct {
	// Detection (T_D) is the longest time from a crash to its declaration, with the time to
	// confirm a suspicion. Default 30 s, at least DetectionMin.
	Detection Duration
	// Recurrence (T_MR) is the least mean time between two wrong suspicions. Default 30 days.
	Recurrence Duration
	// Duration (T_M) is the longest mean time that a wrong suspicion lasts. Default 60 s.
	Duration Duration
}

// Bounds of the requirements.
const (
	// DetectionMin bounds QoS.Detection from below: a process under garbage collection is
	// late by tens of milliseconds.
	DetectionMin = 200 * Millisecond
	// DetectionMax bounds QoS.Detection from above.
	DetectionMax = Day
	// PeriodLeast bounds Limits.PeriodMin from below.
	PeriodLeast = Millisecond
)

// WithDefaults returns q with every field that is 0 replaced by its default.
func (q QoS) WithDefaults() QoS {
	if q.Detection == 0 {
		q.Detection = 30 * Second
	}
	if q.Recurrence == 0 {
		q.Recurrence = 30 * Day
	}
	if q.Duration == 0 {
		q.Duration = 60 * Second
	}
	return q
}

// Check returns an error if q, with its defaults, is invalid.
func (q QoS) Check() error {
	q = q.WithDefaults()
	switch {
	case q.Detection < DetectionMin || q.Detection > DetectionMax:
		return fmt.Errorf("%w: detection within %v, want %v to %v", ErrQoS, q.Detection, DetectionMin, DetectionMax)
	case q.Recurrence <= 0 || q.Duration <= 0:
		return fmt.Errorf("%w: a mistake each %v that lasts %v, want above 0", ErrQoS, q.Recurrence, q.Duration)
	}
	return nil
}

// Unconfirmed as Limits.Confirm: silence is never declared, only suspected.
const Unconfirmed Duration = -1

// Limits bound the choices of the configurator. Zero fields mean defaults.
type Limits struct {
	// PeriodMin is the shortest period. Default 10 ms.
	PeriodMin Duration
	// Confirm (C) is how long a suspect has to answer before its declaration; a part of
	// QoS.Detection. Default a tenth of that. Unconfirmed takes no time and declares nobody: the
	// detector of the paper, a suspicion that the next beat ends.
	Confirm Duration
	// Beats is the number of beats that must fall into the time to suspect (T), however good the
	// measurements of the network are. Default 3. 1 is the formula of the paper alone:
	//
	//	1,000 beats without loss lead to one in 15 s where T is 30 s, 100,000 to one in
	//	30 s: then the first loss in months is a wrong suspicion.
	Beats int
}

// WithDefaults returns l with every field that is 0 replaced by its default for q.
func (l Limits) WithDefaults(q QoS) Limits {
	if l.PeriodMin == 0 {
		l.PeriodMin = 10 * Millisecond
	}
	if l.Confirm == 0 {
		l.Confirm = q.WithDefaults().Detection / 10
	}
	if l.Beats == 0 {
		l.Beats = 3
	}
	return l
}

// Check returns an error if l, with the defaults for q, is invalid.
func (l Limits) Check(q QoS) error {
	q, l = q.WithDefaults(), l.WithDefaults(q)
	switch {
	case l.PeriodMin < PeriodLeast || l.PeriodMin > q.Detection/2:
		return fmt.Errorf("%w: period of at least %v, want %v to half of the detection time", ErrQoS, l.PeriodMin, PeriodLeast)
	case l.Confirm < Unconfirmed || l.Confirm > q.Detection/2:
		return fmt.Errorf("%w: time to confirm %v, want at most half of the detection time", ErrQoS, l.Confirm)
	case l.Beats < 1 || l.Beats > 64:
		return fmt.Errorf("%w: %d beats within the time to suspect, want 1 to 64", ErrQoS, l.Beats)
	}
	return nil
}

// Setting holds the parameters of a detector.
type Setting struct {
	Period Duration // from one beat to the next (η)
	Shift  Duration // from the expected arrival of a beat to the suspicion (α)
}

// Quality is the quality that a Setting achieves on a network.
type Quality struct {
	Recurrence Duration // mean time between wrong suspicions: expected, or a lower bound
	Duration   Duration // mean length of a wrong suspicion: expected, or an upper bound
	// Attainable reports that the requested quality can be achieved on this network. If not, the
	// shortest period is used: the detector is as good as this network permits, and reports false
	// here.
	Attainable bool
}
