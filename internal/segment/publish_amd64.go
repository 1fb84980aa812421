//go:build !race

package segment

import "sync/atomic"

// publish64 is a plain store, which this processor makes after all stores before it, where
// an atomic one of Go is a locked instruction: that waits until the line is this
// processor's. It is in assembly so that the compiler cannot move it.
//
//go:noescape
func publish64(p *uint64, v uint64)

// Fence returns when all others can see what has been published before it.
func Fence() {
	var here uint32
	atomic.AddUint32(&here, 1)
}
