//go:build !amd64 || race

package publish

import "sync/atomic"

// Word stores v at p.
func Word(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// Fence returns when all others can see all words that were published before the call. It has no
// effect: Go's atomic stores and loads already have one order.
func Fence() {}

// Register returns true: this process needs no Fence.
func Register() bool { return true }

// FenceAll returns true: no process needs a Fence.
func FenceAll() bool { return true }
