//go:build !unix

package pmi

// Alive says whether a descriptor is a socket with a peer; there are none that are
// inherited here.
func Alive(int) bool { return false }
