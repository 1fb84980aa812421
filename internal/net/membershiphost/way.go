package membershiphost

import (
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A way holds the addresses of a member once it has joined.
type way struct {
	to     atomic.Pointer[reached] // nil: the member has not joined yet
	opened chan struct{}           // closed once to is set
}

// A reached is a Peer with resolved addresses.
type reached struct {
	Peer
	packets unix.Sockaddr
}

// open sets the addresses of a member. A second call has no effect.
func (w *way) open(p Peer) error {
	at, err := net.ResolveUDPAddr("udp", p.Packets)
	if err != nil {
		return err
	}
	if w.to.CompareAndSwap(nil, &reached{p, addressOf(at)}) {
		close(w.opened)
	}
	return nil
}
