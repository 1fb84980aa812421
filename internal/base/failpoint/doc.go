// Package failpoint is where a process dies in tests. Before each change that other
// processes see, a store to shared memory or a call that wakes somebody, stands
//
//	if failpoint.Counting {
//		failpoint.Here()
//	}
//
// With the build tag "failpoints" these points are counted, and On can end the process (or
// the goroutine rank) at the k-th, for each k in turn. Between two of them nothing happens
// that anybody else could see, so these are all the ways in which a death can look.
// Without the tag there is nothing.
package failpoint
