package membershiphost

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/base/mono"
	"github.com/goulfm/goulfm/internal/shm/park"
)

// A waker ends the wait of the Driver's thread.
type waker struct {
	mu      sync.Mutex // a wake may be under way in another goroutine when the Place is closed
	fd      int        // an eventfd; -1: closed
	waits   [2]unix.PollFd
	timeout unix.Timespec
}

func (w *waker) open() (err error) {
	w.fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return err
}

func (w *waker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = unix.Close(w.fd)
	w.fd = -1
}

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fd >= 0 { // the kernel may have given a closed number to another file
		_, _ = unix.Write(w.fd, binary.NativeEndian.AppendUint64(nil, 1))
	}
}

// wait waits for a datagram, for wake, or until most has passed; a negative most is no limit. It
// returns true if a datagram has arrived. The caller must set asleep first, and check after that
// for other work.
func (p *packets) wait(most mono.Duration) (arrived bool) {
	w := &p.waker
	w.waits = [2]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}, {Fd: int32(w.fd), Events: unix.POLLIN}}
	var timeout uintptr
	if most >= 0 {
		w.timeout = unix.NsecToTimespec(int64(most))
		timeout = uintptr(unsafe.Pointer(&w.timeout))
	}
	_, _ = park.LongCall(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&w.waits[0])), uintptr(len(w.waits)), timeout, 0, 0, 0)
	p.asleep.Store(false)
	if w.waits[1].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(w.fd, count[:])
	}
	return w.waits[0].Revents != 0
}
