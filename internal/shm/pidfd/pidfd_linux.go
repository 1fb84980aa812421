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

// New takes over a pidfd. One that does not block is waited for without a thread of its own.
// An error is the operating system's, and has closed it.
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

// Wait returns true when nothing of the process runs any more: it is reaped, or a zombie. False:
// the handle was closed.
func (h *Handle) Wait() (ended bool) {
	if err := h.raw.Read(func(fd uintptr) bool { ended = hasEnded(int(fd), 0); return ended }); err != nil {
		_ = h.raw.Control(func(fd uintptr) { ended = hasEnded(int(fd), -1) })
	}
	return ended
}

// hasEnded looks whether a process has ended, for so many milliseconds; -1: until it has.
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

// Close lets go of the process.
func (h *Handle) Close() { h.file.Close() }

// How long the parent of a process may take to reap it, until its status counts as unknown.
const (
	reapMax   = 200 * time.Millisecond
	reapLooks = 100
)

// Status is how a process has ended that has, once its parent has reaped it. False: nobody can
// tell; kernels before 6.15 do not.
func (h *Handle) Status() (status syscall.WaitStatus, known bool) {
	for range reapLooks {
		info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
		var inner error
		err := h.raw.Control(func(fd uintptr) { inner = unix.IoctlPidfdInfo(int(fd), &info) })
		switch {
		case err != nil || inner != nil:
			return 0, false
		case info.Mask&unix.PIDFD_INFO_EXIT != 0:
			return syscall.WaitStatus(info.Exit_code), true
		}
		time.Sleep(reapMax / reapLooks) // nobody has reaped it yet
	}
	return 0, false
}
