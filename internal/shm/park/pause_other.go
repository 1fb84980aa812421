//go:build !amd64 && !arm64

package park

// Pause waits for a moment: n empty iterations.
func Pause(n uint32) {
	for range n {
		spin()
	}
}

//go:noinline
func spin() {}
