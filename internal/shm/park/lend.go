package park

import (
	"runtime"
	"strings"
	"sync/atomic"
)

// Reentered is what Lock panics with in a goroutine that is inside of a Lend: it would
// wait for itself.
type Reentered struct{}

// Error implements error.
func (Reentered) Error() string { return "a call that needs a lock which its caller holds" }

// lent counts the Lends under way in this process.
var lent atomic.Int32

// Lend calls f, a function of the program, while the caller holds a Lock. Where f takes that
// Lock it gets a panic with Reentered in place of a wait for ever.
//
//go:noinline
func Lend(f func()) {
	lent.Add(1)
	defer lent.Add(-1)
	f()
}

// mustNotWait panics if the caller is called by a Lend. It is asked where a lock is not
// free, so only who waits pays for it, and only while something is lent.
func mustNotWait() {
	if lent.Load() > 0 && insideLend() {
		panic(Reentered{})
	}
}

// insideLend looks through the callers: a goroutine has no other name.
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
