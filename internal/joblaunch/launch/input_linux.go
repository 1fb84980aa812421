package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
)

// stdinOf returns the standard input of a rank, and the function that feeds this input if one is
// needed.
func (l *launcher) stdinOf(rank int) (*os.File, func(), error) {
	in, all := l.spec.In, l.spec.Stdin == "all"
	if !all && strconv.Itoa(rank) != l.spec.Stdin || in == nil {
		f, err := daemon.NoInput()
		return f, nil, err
	}
	switch keys := isTerminal(in); {
	case all:
		r, w, err := os.Pipe()
		if err != nil {
			return nil, nil, err
		}
		if keys {
			l.feeds.from = &keyboard{in, l.quiet}
		}
		return r, l.feeds.add(w), nil
	case keys:
		r, to, err := daemon.OpenInput()
		return r, func() { l.feedKeys(to) }, err
	}
	// A rank gets a file or pipe itself: back-pressure and the end stay the same, and a dead rank
	// blocks nobody.
	fd, err := unix.FcntlInt(in.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	return os.NewFile(uintptr(fd), "stdin"), nil, nil
}

// feedKeys passes on typed lines, one at a time: it reads the next line once the rank has read the
// last.
func (l *launcher) feedKeys(to *daemon.Input) {
	defer to.Close()
	runtime.LockOSThread()
	keys, buf := keyboard{l.spec.In, l.quiet}, make([]byte, 32<<10)
	for {
		n, err := keys.Read(buf)
		if err == nil {
			_, err = to.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// A keyboard is a terminal from which only a foreground job reads. A terminal gives its input to
// one process group, and stops other groups that read; a job in the background neither reads nor
// stops:
//
//	shell          launcher
//	               in the foreground: about to read
//	^Z, bg         continued, in the background
//	               reads: SIGTTIN stops it, unless its thread blocks that: EIO
//
// So Read blocks SIGTTIN. Its goroutine must be locked to its thread, and the thread ends with the
// goroutine.
type keyboard struct {
	in   *os.File
	over <-chan struct{} // closed: nobody reads any more
}

// keysLook is how often a keyboard checks whether the job is in the foreground.
const keysLook = 200 * time.Millisecond

// Read implements io.Reader.
func (k *keyboard) Read(buf []byte) (int, error) {
	mask := &unix.Sigset_t{}
	mask.Val[0] = 1 << (unix.SIGTTIN - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, mask, nil); err != nil {
		return 0, err
	}
	fd := int(k.in.Fd())
	for {
		if !inForeground(fd) {
			select {
			case <-k.over:
				return 0, io.EOF
			case <-time.After(keysLook):
				continue
			}
		}
		select {
		case <-k.over:
			return 0, io.EOF
		default:
		}
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(p, int(keysLook.Milliseconds())); n <= 0 {
			continue
		}
		n, err := unix.Read(fd, buf)
		switch {
		case n > 0:
			return n, nil
		case err == nil || p[0].Revents&unix.POLLHUP != 0:
			return 0, io.EOF
		case !errors.Is(err, unix.EIO) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN):
			return 0, err
		}
	}
}

// inForeground reports whether this process may read a terminal. For a terminal of another session
// the answer is yes: such a terminal stops nobody.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// feeds copy standard input to every rank.
type feeds struct {
	from  io.Reader
	ranks int
	to    []*os.File
}

// add takes in the next rank's pipe. For the last rank it returns the function that copies.
func (f *feeds) add(w *os.File) func() {
	f.to = append(f.to, w) // ranks are started one after the other
	if len(f.to) < f.ranks {
		return nil
	}
	return f.copy
}

func (f *feeds) copy() {
	runtime.LockOSThread() // see keyboard
	buf := make([]byte, 32<<10)
	for {
		n, err := f.from.Read(buf)
		for i, to := range f.to {
			if to == nil {
				continue
			}
			if _, werr := to.Write(buf[:n]); werr != nil { // this rank has ended: the others read on
				to.Close()
				f.to[i] = nil
			}
		}
		if err != nil {
			break
		}
	}
	for _, to := range f.to {
		if to != nil {
			to.Close()
		}
	}
}
