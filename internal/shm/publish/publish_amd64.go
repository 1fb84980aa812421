//go:build !race

package publish

import "sync/atomic"

// Word stores v at p: a plain store, which this processor executes after all earlier loads and
// stores. The compiler cannot move the store, because this function is in assembly.
//
//go:noescape
func Word(p *uint64, v uint64)

// Fence returns when all others can see all words that were published before the call.
func Fence() {
	var here uint32
	atomic.AddUint32(&here, 1)
}
