//go:build !amd64 || race

package publish

import "sync/atomic"

// Word stores v at p.
func Word(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// Fence returns when all others can see what has been published before it: atomic stores
// and loads of Go are in one order already.
func Fence() {}
