//go:build !failpoints && !pausepoints

package failpoint

// Counting says whether points count; a constant, so that it costs nothing.
const Counting = false

// Here does nothing.
func Here() {}
