//go:build race

package park

import "sync"

// A Lock is a mutex that the race detector knows.
type Lock struct{ sync.Mutex }
