package adaptive

import "strconv"

// Time is a point on a process's monotonic clock, in nanoseconds. Times of two processes
// differ by an unknown offset, which this package cancels.
type Time int64

// Duration is a span of time in nanoseconds, as time.Duration is: convert freely.
type Duration int64

// Units of Duration.
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Day                  = 24 * 3600 * Second
)

// DurationMax stands for all that is longer, up to for ever.
const DurationMax Duration = 1<<63 - 1

// Add returns t moved by d.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Seconds returns d in seconds.
func (d Duration) Seconds() float64 { return float64(d) / float64(Second) }

// String prints a Duration in seconds or milliseconds.
func (d Duration) String() string {
	switch {
	case d == DurationMax:
		return "ever"
	case d >= Second || d <= -Second:
		return strconv.FormatFloat(d.Seconds(), 'g', 6, 64) + "s"
	}
	return strconv.FormatFloat(float64(d)/float64(Millisecond), 'g', 6, 64) + "ms"
}

// fromSeconds returns a Duration of s seconds; larger values give DurationMax.
func fromSeconds(s float64) Duration {
	if s >= DurationMax.Seconds() {
		return DurationMax
	}
	return Duration(s * float64(Second))
}

// whole rounds a Duration down to the microseconds of a beat.
func whole(d Duration) Duration { return d - d%Microsecond }
