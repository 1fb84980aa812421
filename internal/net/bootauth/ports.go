package bootauth

import (
	"crypto/sha256"
	"encoding/binary"
)

const (
	portsFrom   = 20000 // above what services use, below what systems hand out for outgoing connections (32768)
	portsSpan   = 12000
	portsStride = 7919 // a prime: no port comes twice, and neighbours of a busy range are left
	portsCount  = 16
)

// Ports returns where node 0 listens when nobody could be told: 16 different ports of TCP from
// 20000 to 31999, the same on all nodes for the same key. It takes the first that is free; others
// try them all.
func Ports(key string) []int {
	sum := sha256.Sum256([]byte(key))
	first := binary.BigEndian.Uint64(sum[:]) % portsSpan
	ports := make([]int, portsCount)
	for k := range ports {
		ports[k] = portsFrom + (int(first)+portsStride*k)%portsSpan
	}
	return ports
}
