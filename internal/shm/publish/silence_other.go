//go:build !linux

package publish

// Silenceable says whether Silence of other processes reaches this one: never.
func Silenceable() bool { return false }

// Silence returns when no thread of a process that is being killed stores anything any more. It
// says whether the kernel did it: never.
func Silence() bool { return false }
