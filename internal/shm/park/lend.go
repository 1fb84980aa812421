package park

import (
	"runtime"
	"strings"
	"sync/atomic"
)

// Reentered is the value with which Lock panics in a goroutine inside of a Lend. Without the panic
// the goroutine would wait for itself.
type Reentered struct{}

// Error implements error.
func (Reentered) Error() string { return "a call that needs a lock which its caller holds" }

// lent counts the Lends under way in this process.
var lent atomic.Int32

// Lend calls f, a function of the program, while the caller holds a Lock. If f calls Lock on a Lock
// that is not free, this call panics with Reentered in place of waiting for ever.
//
//go:noinline
func Lend(f func()) {
	lent.Add(1)
	defer lent.Add(-1)
	f()
}

// mustNotWait panics if the caller is called by a Lend. Only a caller that has to wait for a lock
// calls mustNotWait, and only while a Lend is under way does the check cost more than a load.
func mustNotWait() {
	if lent.Load() > 0 && insideLend() {
		panic(Reentered{})
	}
}

// insideLend searches the callers for Lend, because a goroutine has no name.
func insideLend() bool {
	var pcs [64]uintptr
	for skip := 0; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(pcs[:n])
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if strings.HasSuffix(f.Function, "internal/shm/park.Lend") {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
