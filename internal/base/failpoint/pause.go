//go:build pausepoints && !failpoints

package failpoint

import "github.com/goulfm/goulfm/internal/base/pausepoint"

// Counting reports whether points are visited. A constant, so that unused points cost nothing.
const Counting = true

// Here may pause: each point is a pause point named "store".
func Here() { pausepoint.At("store") }
