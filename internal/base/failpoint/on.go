//go:build failpoints

package failpoint

import "sync/atomic"

// Counting says whether points count; a constant, so that it costs nothing.
const Counting = true

var (
	points  atomic.Uint64
	onPoint atomic.Pointer[func(k uint64)]
)

// On has f called before the k-th point of this process, k = 1, 2, ...; nil ends that.
// f may kill the process, or end the goroutine.
func On(f func(k uint64)) {
	if f == nil {
		onPoint.Store(nil)
		return
	}
	onPoint.Store(&f)
}

// Count returns how many points this process has come to.
func Count() uint64 { return points.Load() }

// Here is called before every change that others see.
func Here() {
	k := points.Add(1)
	if f := onPoint.Load(); f != nil {
		(*f)(k)
	}
}
