package watchserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/goulfm/goulfm/fd/watch"
	"github.com/goulfm/goulfm/internal/shm/pidfd"
	"golang.org/x/sys/unix"
)

// nowNs reads CLOCK_MONOTONIC.
func nowNs() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// checkUser refuses programs of other users. Only root can enter the folder of another user.
func checkUser(conn net.Conn) error {
	cred, err := credentials(conn)
	if err == nil && int(cred.Uid) != os.Getuid() {
		err = fmt.Errorf("the job is of user %d, and this is user %d", os.Getuid(), cred.Uid)
	}
	return err
}

func credentials(conn net.Conn) (cred *unix.Ucred, err error) {
	err = onSocket(conn, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	return cred, err
}

func onSocket(conn net.Conn, f func(fd int) error) error {
	unixConn, ok := conn.(syscall.Conn)
	if !ok {
		return errors.New("no socket")
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	return errors.Join(err, inner)
}

// processOf returns the process that made a connection. Kernels before 6.5 report only its pid:
// if the process ends at this moment and another gets the pid, processOf returns the other
// process.
func processOf(conn net.Conn) (h *pidfd.Handle, pid int, err error) {
	cred, err := credentials(conn)
	if err != nil {
		return nil, 0, err
	}
	pid, fd := int(cred.Pid), -1
	if onSocket(conn, func(socket int) (err error) {
		fd, err = unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		return err
	}) != nil {
		if fd, err = unix.PidfdOpen(pid, 0); err != nil {
			return nil, 0, fmt.Errorf("pidfd of process %d: %w", pid, err)
		}
	}
	h, err = pidfd.New(fd)
	return h, pid, err
}

// endOf returns the event about an ended process: Left after exit code 0, otherwise Died.
func endOf(h *pidfd.Handle) watch.Event {
	if status, known := h.Status(); known {
		return ended(status)
	}
	return watch.Event{What: watch.Died, Evidence: "ended, and nobody can tell how"}
}

func ended(status syscall.WaitStatus) watch.Event {
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return watch.Event{What: watch.Died, Evidence: "killed (SIGKILL)"}
	case status.Signaled():
		return watch.Event{What: watch.Died, Evidence: "killed by " + status.Signal().String()}
	case status.ExitStatus() == 0:
		return watch.Event{What: watch.Left, Evidence: "exit code 0"}
	}
	return watch.Event{What: watch.Died, Evidence: fmt.Sprintf("exit code %d", status.ExitStatus())}
}
