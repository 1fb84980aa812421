// Package mono holds points and spans of monotonic time as plain integers.
//
// It has no Now: rules are told the time, they never read a clock. The engine
// and the simulator each bring a clock of their own.
package mono

import "strconv"

// Time is a point on a process's monotonic clock, in nanoseconds. Only
// differences between Times of the same process mean anything.
type Time int64

// Duration is a span of time in nanoseconds.
type Duration int64

// Units of Duration.
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
)

// Add returns t moved by d.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// String prints a Duration in the largest unit that keeps it at or above one.
func (d Duration) String() string {
	switch {
	case d >= Second || d <= -Second:
		return strconv.FormatFloat(float64(d)/float64(Second), 'g', -1, 64) + "s"
	case d >= Millisecond || d <= -Millisecond:
		return strconv.FormatFloat(float64(d)/float64(Millisecond), 'g', -1, 64) + "ms"
	case d >= Microsecond || d <= -Microsecond:
		return strconv.FormatFloat(float64(d)/float64(Microsecond), 'g', -1, 64) + "us"
	}
	return strconv.FormatInt(int64(d), 10) + "ns"
}
