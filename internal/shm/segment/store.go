package segment

import (
	"sync/atomic"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/shm/publish"
)

// Store32 publishes v at p.
func Store32(p *uint32, v uint32) {
	if failpoint.Counting {
		failpoint.Here()
	}
	atomic.StoreUint32(p, v)
}

// Put64 writes v at p for a word stored afterwards to publish.
func Put64(p *uint64, v uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	*p = v
}

// Store64 publishes v at p.
func Store64(p *uint64, v uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	atomic.StoreUint64(p, v)
}

// Publish64 publishes v at p like Store64, but does not wait until others see the store: the
// processor may make a later load first. A publish.Fence between the store and the load prevents
// this.
func Publish64(p *uint64, v uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	publish.Word(p, v)
}

// Or64 sets bits at p: for words with several writers.
func Or64(p *uint64, bits uint64) {
	if failpoint.Counting {
		failpoint.Here()
	}
	atomic.OrUint64(p, bits)
}

// Swap64 stores v at p and returns the previous value.
func Swap64(p *uint64, v uint64) uint64 {
	if failpoint.Counting {
		failpoint.Here()
	}
	return atomic.SwapUint64(p, v)
}

// Add64 adds to the word at p: for words with several writers.
func Add64(p *uint64, v uint64) uint64 {
	if failpoint.Counting {
		failpoint.Here()
	}
	return atomic.AddUint64(p, v)
}

// Load32 reads the word at p.
func Load32(p *uint32) uint32 { return atomic.LoadUint32(p) }

// Load64 reads the word at p.
func Load64(p *uint64) uint64 { return atomic.LoadUint64(p) }

// Copy copies src into shared memory. The copy is not atomic: a word stored afterwards marks the
// bytes as complete.
func Copy(dst, src []byte) {
	if failpoint.Counting {
		failpoint.Here()
	}
	move(dst, src)
}

// CompareAndSwap64 changes the word at p from old to v, and reports whether it did: for words with
// several writers.
func CompareAndSwap64(p *uint64, old, v uint64) bool {
	if failpoint.Counting {
		failpoint.Here()
	}
	return atomic.CompareAndSwapUint64(p, old, v)
}
