package socket

import (
	"net"
	"net/netip"
)

// Loopback returns the address at which processes of this machine reach each other: 127.0.0.1, or
// ::1 on a machine without IPv4.
func Loopback() string {
	const v4 = "127.0.0.1"
	if l, err := net.Listen("tcp", net.JoinHostPort(v4, "0")); err == nil {
		_ = l.Close()
		return v4
	}
	return net.IPv6loopback.String()
}

// OwnAddresses returns the addresses of this machine in the order of its interfaces, with loopback
// addresses last. It omits link-local addresses, which are ambiguous on another machine.
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
