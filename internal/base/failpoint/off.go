//go:build !failpoints && !pausepoints

package failpoint

// Counting reports whether points count. A constant, so that unused points cost nothing.
const Counting = false

// Here does nothing.
func Here() {}
