package bootauth

import (
	"crypto/sha256"
	"encoding/binary"
)

const (
	portsFrom   = 20000 // above the ports of services, below those that systems use for outgoing connections (32768)
	portsSpan   = 12000
	portsStride = 7919 // a prime: no port comes twice, and the next port is far from a busy range
	portsCount  = 16
)

// Ports returns the ports of node 0 if its address could not be published: 16 different ports of
// TCP from 20000 to 31999, the same on all nodes for the same key. Node 0 listens at the first
// free one; the others try all.
func Ports(key string) []int {
	sum := sha256.Sum256([]byte(key))
	first := binary.BigEndian.Uint64(sum[:]) % portsSpan
	ports := make([]int, portsCount)
	for k := range ports {
		ports[k] = portsFrom + (int(first)+portsStride*k)%portsSpan
	}
	return ports
}
