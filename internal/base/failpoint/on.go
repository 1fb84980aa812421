//go:build failpoints

package failpoint

import "sync/atomic"

// Counting reports whether points count. A constant, so that unused points cost nothing.
const Counting = true

var (
	points  atomic.Uint64
	onPoint atomic.Pointer[func(k uint64)]
)

// On makes the k-th point of this process call f(k) before its change, k = 1, 2, ...; nil ends
// that. f may kill the process, or end the goroutine.
func On(f func(k uint64)) {
	if f == nil {
		onPoint.Store(nil)
		return
	}
	onPoint.Store(&f)
}

// Count returns the number of points that this process has visited.
func Count() uint64 { return points.Load() }

// Here is called before every change that others see.
func Here() {
	k := points.Add(1)
	if f := onPoint.Load(); f != nil {
		(*f)(k)
	}
}
