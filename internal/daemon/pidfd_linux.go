package daemon

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/goulfm/goulfm/internal/job"
	"golang.org/x/sys/unix"
)

// A handle is a pidfd: it means one process for ever, whoever is its parent and whatever
// becomes of its number.
type handle struct {
	file *os.File
	raw  syscall.RawConn
}

// newHandle takes over a pidfd. One that does not block is waited for without a thread of its
// own.
func newHandle(pidfd int) (*handle, error) {
	if err := unix.SetNonblock(pidfd, true); err != nil {
		unix.Close(pidfd)
		return nil, os.NewSyscallError("pidfd", err)
	}
	file := os.NewFile(uintptr(pidfd), "pidfd")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &handle{file, raw}, nil
}

// wait returns when nothing of the process runs any more: it is reaped, or a zombie.
func (h *handle) wait() {
	if err := h.raw.Read(func(fd uintptr) bool { return hasEnded(int(fd), 0) }); err != nil {
		_ = h.raw.Control(func(fd uintptr) { hasEnded(int(fd), -1) })
	}
}

// hasEnded looks whether a process has ended, for so many milliseconds; -1: until it has.
func hasEnded(pidfd, ms int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, ms)
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

func (h *handle) signal(sig syscall.Signal) {
	_ = h.raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
}

func (h *handle) close() { h.file.Close() }

// How long the parent of a process may take to reap it, until its status counts as unknown.
const (
	reapMax   = 200 * time.Millisecond
	reapLooks = 100
)

// status is how a process has ended that has.
func (h *handle) status() job.Status {
	for range reapLooks {
		status, err := exitOf(h.raw)
		switch {
		case err == nil:
			return statusOf(status)
		case !errors.Is(err, errNotReaped):
			return job.Status{Unknown: true}
		}
		time.Sleep(reapMax / reapLooks)
	}
	return job.Status{Unknown: true}
}

var errNotReaped = errors.New("pidfd: its parent has not reaped it")

// exitInfo is the kernel's struct pidfd_info of 64 bytes (Linux 6.15), of which this is used.
type exitInfo struct {
	mask   uint64
	_      [52]byte
	status int32
}

const (
	pidfdGetInfo  = 0xc040ff0b // PIDFD_GET_INFO with 64 bytes
	pidfdInfoExit = 1 << 3     // PIDFD_INFO_EXIT
)

// exitOf asks the kernel for the wait status of a process that was reaped. Kernels before 6.15
// do not know it.
func exitOf(pidfd syscall.RawConn) (status syscall.WaitStatus, err error) {
	info := exitInfo{mask: pidfdInfoExit}
	errno := syscall.Errno(0)
	if err := pidfd.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, pidfdGetInfo, uintptr(unsafe.Pointer(&info)))
	}); err != nil {
		return 0, err
	}
	switch {
	case errno != 0:
		return 0, errno
	case info.mask&pidfdInfoExit == 0:
		return 0, errNotReaped
	}
	return syscall.WaitStatus(info.status), nil
}
