package daemon

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// An Input is the writing end of the pipe that is the standard input of a process. The pipe holds
// one page, and so is writable only once the process has read all of it: Write knows how much the
// process has read, and nothing is taken from the launcher's input that no process has asked for.
type Input struct{ to *os.File }

// OpenInput returns the end that the process reads, and its Input.
func OpenInput() (theirs *os.File, in *Input, err error) {
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	in = &Input{to}
	in.control(func(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, os.Getpagesize()) })
	return theirs, in, nil
}

// NoInput returns a standard input that is at its end: /dev/null, and below a root directory without
// it a pipe of the same name that has no writer.
func NoInput() (*os.File, error) {
	f, err := os.Open(os.DevNull)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(ends[0]), os.DevNull), os.NewSyscallError("close", unix.Close(ends[1]))
}

// Write returns once the process has read all of data, or reads no more, which is an error: read is
// how many bytes of data it has read.
func (in *Input) Write(data []byte) (read int, err error) {
	raw, err := in.to.SyscallConn()
	if err != nil {
		return 0, err
	}
	left, unread := data, 0
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		left, failed = writeAll(int(fd), left)
		unread, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		if failed == nil && unread > 0 && isDeserted(int(fd)) {
			failed = unix.EPIPE
		}
		return failed != nil || len(left)+unread == 0
	})
	return len(data) - len(left) - unread, errors.Join(err, failed)
}

// writeAll writes as much of data as there is room for, and returns the rest.
func writeAll(fd int, data []byte) (left []byte, err error) {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return data, nil
		case err != nil:
			return data, err
		default:
			data = data[n:]
		}
	}
	return nil, nil
}

// isDeserted reports whether nobody reads a pipe any more.
func isDeserted(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd)}}
	_, _ = unix.Poll(p, 0)
	return p[0].Revents&unix.POLLERR != 0
}

func (in *Input) control(do func(fd int)) {
	if raw, err := in.to.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// Close ends the input.
func (in *Input) Close() { _ = in.to.Close() }
