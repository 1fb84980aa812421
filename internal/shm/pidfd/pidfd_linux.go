package pidfd

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Handle is a pidfd. Close may be called beside Wait, and ends it.
type Handle struct {
	file *os.File
	raw  syscall.RawConn
}

// New takes ownership of a pidfd. It makes the pidfd nonblocking, so that Wait needs no thread of
// its own. After an error, which is that of the operating system, the pidfd is closed.
func New(fd int) (*Handle, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("pidfd", err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Handle{file, raw}, nil
}

// Wait returns true when the process has ended: it is reaped, or a zombie. Wait returns false if
// the handle was closed before.
func (h *Handle) Wait() (ended bool) {
	if err := h.raw.Read(func(fd uintptr) bool { ended = hasEnded(int(fd), 0); return ended }); err != nil {
		_ = h.raw.Control(func(fd uintptr) { ended = hasEnded(int(fd), -1) })
	}
	return ended
}

// hasEnded waits at most ms milliseconds for the end of a process, or without a limit for -1, and
// reports whether the process has ended.
func hasEnded(fd, ms int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, ms)
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// Signal sends a signal, if the process runs.
func (h *Handle) Signal(sig syscall.Signal) {
	_ = h.raw.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
}

// Close releases the handle.
func (h *Handle) Close() { h.file.Close() }

// Bounds of the wait until the parent has reaped a process. After it the status counts as unknown.
const (
	reapMax   = 200 * time.Millisecond
	reapPolls = 100
)

// Status returns the wait status of an ended process, once its parent has reaped it. known is false
// if the status cannot be read, as on kernels before 6.15.
func (h *Handle) Status() (status syscall.WaitStatus, known bool) {
	for range reapPolls {
		info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
		var inner error
		err := h.raw.Control(func(fd uintptr) { inner = unix.IoctlPidfdInfo(int(fd), &info) })
		switch {
		case err != nil || inner != nil:
			return 0, false
		case info.Mask&unix.PIDFD_INFO_EXIT != 0:
			return syscall.WaitStatus(info.Exit_code), true
		}
		time.Sleep(reapMax / reapPolls) // not reaped yet
	}
	return 0, false
}
