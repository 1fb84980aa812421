package socket

import (
	"net"
	"net/netip"
)

// OwnAddresses are those at which this machine may be reached, in the order of its interfaces, those of this
// machine alone (loopback) last. Link-local ones mean nothing on another machine.
func OwnAddresses() (all []netip.Addr, err error) {
	addrs, err := net.InterfaceAddrs()
	var loops []netip.Addr
	for _, a := range addrs {
		prefix, bad := netip.ParsePrefix(a.String())
		switch ip := prefix.Addr(); {
		case bad != nil || ip.IsLinkLocalUnicast():
		case ip.IsLoopback():
			loops = append(loops, ip)
		default:
			all = append(all, ip)
		}
	}
	return append(all, loops...), err
}
