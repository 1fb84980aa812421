//go:build unix

package membershiphost

import (
	"bytes"
	"net"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/socket"
)

// packets is the socket for datagrams. Only the thread of the Driver uses it to receive and to
// send. That thread waits in the kernel, not in the runtime's poller, so a datagram wakes one
// thread and not three.
type packets struct {
	fd     int
	at     *net.UDPAddr
	asleep atomic.Bool // the thread waits, or is about to
	waker  waker
	buf    [socket.DatagramMax]byte
}

func openPackets(ip net.IP) (*packets, error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &packets{fd: -1, at: conn.LocalAddr().(*net.UDPAddr)}
	if control := raw.Control(func(fd uintptr) { p.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); control != nil {
		return nil, control
	}
	if err != nil {
		return nil, err
	}
	if err = p.waker.open(); err != nil {
		_ = unix.Close(p.fd)
		return nil, err
	}
	return p, nil
}

func (p *packets) close() {
	_ = unix.Close(p.fd)
	p.waker.close()
}

// next returns a datagram that has arrived, or nil.
func (p *packets) next() []byte {
	n, err := unix.Read(p.fd, p.buf[:])
	if err != nil { // no datagram, or an ICMP error: no socket listened at the target of an earlier datagram
		return nil
	}
	return bytes.Clone(p.buf[:n])
}

// sendTo sends a datagram, which may be lost.
func (p *packets) sendTo(b []byte, to unix.Sockaddr) {
	_ = unix.Sendto(p.fd, b, unix.MSG_DONTWAIT, to)
}

// wake ends a wait. The caller must first publish the event that the thread is to find.
func (p *packets) wake() {
	if p.asleep.CompareAndSwap(true, false) {
		p.waker.wake()
	}
}

// addressOf converts an address to the form that system calls take.
func addressOf(at *net.UDPAddr) unix.Sockaddr {
	if ip := at.IP.To4(); ip != nil {
		return &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(ip)}
	}
	a := &unix.SockaddrInet6{Port: at.Port}
	copy(a.Addr[:], at.IP.To16())
	if zone, err := net.InterfaceByName(at.Zone); err == nil {
		a.ZoneId = uint32(zone.Index)
	}
	return a
}
