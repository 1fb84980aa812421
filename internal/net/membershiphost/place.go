package membershiphost

import (
	"net"
	"sync"
)

// A Place holds the sockets at which a member receives connections and datagrams.
type Place struct {
	listener *net.TCPListener
	*packets
	once sync.Once
}

// Open opens a Place at an address of this machine.
func Open(ip net.IP) (*Place, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip})
	if err != nil {
		return nil, err
	}
	packets, err := openPackets(ip)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &Place{listener: l, packets: packets}, nil
}

// Peer returns the addresses of the place, for the member born as birth.
func (p *Place) Peer(birth uint64) Peer {
	return Peer{Birth: birth, Addr: p.listener.Addr().String(), Packets: p.at.String()}
}

// Close closes a place that no Driver uses.
func (p *Place) Close() {
	_ = p.listener.Close()
	p.once.Do(p.packets.close)
}
