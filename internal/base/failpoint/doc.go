// Package failpoint marks the points at which tests kill a process. Before each change that other
// processes see, a store to shared memory or a call that wakes a sleeper, stands
//
//	if failpoint.Counting {
//		failpoint.Here()
//	}
//
// With the build tag "failpoints" these points are counted, and On can end the process (or the
// goroutine rank) at the k-th, for each k in turn. Between two points a process makes no change
// that others see, so these points cover all states that a death can leave. With the tag
// "pausepoints" the points may pause instead. Without both tags the compiler removes them.
package failpoint
