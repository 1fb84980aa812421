//go:build !linux

package publish

// Silenceable returns false: Silence of other processes never reaches this one.
func Silenceable() bool { return false }

// Silence returns false: it has no effect here.
func Silence() bool { return false }
