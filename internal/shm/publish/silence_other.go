//go:build !linux

package publish

// Silenceable returns false: Silence of other processes never reaches this process.
func Silenceable() bool { return false }

// Silence returns false, and has no effect here.
func Silence() bool { return false }
