package enginejob

import (
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A watchdog ends this process a second after its last rank has ended, even if the daemon hangs.
// An engine waits for the end of all processes that have its standard output, so a hanging daemon
// would keep the job alive. The watchdog has pidfds of its own, and shares no lock with the
// daemon.
type watchdog struct {
	mu     sync.Mutex
	pidfds []unix.PollFd
}

// add adds a process to the wait. The caller keeps the pidfd.
func (w *watchdog) add(pidfd int) {
	fd, err := copyDescriptor(pidfd)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pidfds = append(w.pidfds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
}

// run waits until all processes have ended, and ends this process.
func (w *watchdog) run() {
	w.mu.Lock()
	live := w.pidfds
	w.mu.Unlock()
	for len(live) > 0 {
		if _, err := unix.Poll(live, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		rest := live[:0]
		for _, p := range live {
			if p.Revents == 0 {
				rest = append(rest, p)
				continue
			}
			unix.Close(int(p.Fd))
		}
		live = rest
	}
	time.Sleep(endMax)
	os.Exit(0)
}

// watchEnd reports the end of a guest's process to the muster.
func (s *server) watchEnd(g *guest) error {
	fd, err := copyDescriptor(g.pidfd)
	if err != nil {
		return err
	}
	go func() {
		defer unix.Close(fd)
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		s.events <- ended{g.claim.Rank}
	}()
	return nil
}

func copyDescriptor(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }
