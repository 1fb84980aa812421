package membershiphost

import (
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A way is where a member is reached, once it is there.
type way struct {
	to     atomic.Pointer[reached] // nil: not there yet
	opened chan struct{}           // closed: it is
}

// A reached is a Peer whose addresses are looked up.
type reached struct {
	Peer
	packets unix.Sockaddr
}

// open says where a member is reached. A second time it does nothing.
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
