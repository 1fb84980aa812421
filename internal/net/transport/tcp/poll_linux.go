package tcp

import (
	"github.com/goulfm/goulfm/internal/net/transport"
	"golang.org/x/sys/unix"
)

// A poller is the epoll set of a process.
type poller struct{ fd int }

// An event reports the readiness of a socket.
type event struct {
	key                uint64
	readable, writable bool // readable: also broken
}

// othersKey is the key of descriptors that are not sockets of the mesh, such as the doorbell.
const othersKey = 1<<64 - 1

// laneKey returns the epoll key of a lane's connection, in use or being made.
func laneKey(slot int, c transport.Class, isAttempt bool) uint64 {
	key := uint64(slot)<<2 | uint64(c)<<1
	if isAttempt {
		key |= 1
	}
	return key
}

func keyOf(l *lane, isAttempt bool) uint64 { return laneKey(l.peer, l.class, isAttempt) }

// laneOf returns the lane of a key.
func (m *Mesh) laneOf(key uint64) (l *lane, isAttempt bool) {
	if slot := int(key >> 2); key != othersKey && slot < len(m.cfg.Peers) {
		return m.lanes[key>>1&1][slot], key&1 != 0
	}
	return nil, false
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &poller{fd}, err
}

func (p *poller) control(op, fd int, key uint64, events uint32) {
	_ = unix.EpollCtl(p.fd, op, fd, &unix.EpollEvent{Events: events, Fd: int32(uint32(key)), Pad: int32(uint32(key >> 32))})
}

func (p *poller) add(fd int, key uint64) { p.control(unix.EPOLL_CTL_ADD, fd, key, unix.EPOLLIN) }

func (p *poller) remove(fd int) { p.control(unix.EPOLL_CTL_DEL, fd, 0, 0) }

func (p *poller) modify(fd int, key uint64, out bool) {
	events := uint32(unix.EPOLLIN)
	if out {
		events |= unix.EPOLLOUT
	}
	p.control(unix.EPOLL_CTL_MOD, fd, key, events)
}

// ready stores the events of now in dst, at most 64, and returns them.
func (p *poller) ready(dst []event) []event {
	var raw [64]unix.EpollEvent
	n := pollNow(p.fd, raw[:min(len(raw), len(dst))])
	for i, e := range raw[:n] {
		dst[i] = event{key: uint64(uint32(e.Fd)) | uint64(uint32(e.Pad))<<32,
			readable: e.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0, writable: e.Events&unix.EPOLLOUT != 0}
	}
	return dst[:n]
}
