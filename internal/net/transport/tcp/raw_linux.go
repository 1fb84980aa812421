package tcp

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls here never block, so they bypass the scheduler of the runtime: each is a raw system
// call.

// send writes to a socket and returns the number of bytes written.
func send(fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// receive reads from a socket; 0 bytes: the peer has closed the connection.
func receive(fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EINTR {
		return 0, unix.EAGAIN
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// pollNow returns the ready events of an epoll set, without waiting.
func pollNow(epoll int, events []unix.EpollEvent) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}
