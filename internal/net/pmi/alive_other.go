//go:build !unix

package pmi

// Alive reports whether a descriptor is a socket with a peer; on this system no sockets are
// inherited.
func Alive(int) bool { return false }
