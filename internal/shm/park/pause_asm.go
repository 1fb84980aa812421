//go:build amd64 || arm64

package park

// Pause tells the processor n times that this is a wait loop. One PAUSE takes
// some 30 to 60 ns on recent amd64 cores and leaves the core's pipeline, and on
// a virtual machine its sibling, to others.
//
//go:noescape
func Pause(n uint32)
