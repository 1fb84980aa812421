//go:build unix

package membershiphost

import (
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/net/socket"
)

// poll returns a datagram that has arrived, or nil.
func (p *Place) poll() []byte {
	raw, err := p.packets.SyscallConn()
	if err != nil {
		return nil
	}
	buf, n := make([]byte, socket.DatagramMax), -1
	_ = raw.Control(func(fd uintptr) { n, _, _ = unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT) })
	if n < 0 {
		return nil
	}
	return buf[:n]
}
