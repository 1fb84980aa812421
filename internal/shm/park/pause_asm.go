//go:build amd64 || arm64

package park

// Pause executes n PAUSE instructions, which mark a wait loop for the processor. One takes about 30
// to 60 ns on recent amd64 cores and leaves the core's pipeline, and on a virtual machine its
// sibling, to others.
//
//go:noescape
func Pause(n uint32)
