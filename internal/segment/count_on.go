//go:build killpoints

package segment

import "sync/atomic"

// counting says whether stores count; a constant, so that it costs nothing.
const counting = true

var (
	stores  atomic.Uint64
	onStore atomic.Pointer[func(k uint64)]
)

// OnStore has f called before the k-th store to shared memory of this process,
// k = 1, 2, ...; nil ends that. f may kill the process, or end the goroutine.
func OnStore(f func(k uint64)) {
	if f == nil {
		onStore.Store(nil)
		return
	}
	onStore.Store(&f)
}

// Stores returns how many stores to shared memory this process has made.
func Stores() uint64 { return stores.Load() }

func beforeStore() {
	k := stores.Add(1)
	if f := onStore.Load(); f != nil {
		(*f)(k)
	}
}
