//go:build pausepoints && !failpoints

package failpoint

import "github.com/goulfm/goulfm/internal/base/pausepoint"

// Counting says whether points are visited; a constant, so that it costs nothing.
const Counting = true

// Here may pause: each point is a pause point named "store".
func Here() { pausepoint.At("store") }
