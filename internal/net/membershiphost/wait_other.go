//go:build unix && !linux

package membershiphost

import (
	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/base/mono"
)

// A waker does nothing here, where jobs have one node: a wait lasts at most a millisecond.
type waker struct{}

func (waker) open() error { return nil }
func (waker) close()      {}
func (waker) wake()       {}

// wait returns true when a datagram has arrived, and false after at most a millisecond.
func (p *packets) wait(most mono.Duration) (arrived bool) {
	waits := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	if most != 0 {
		_, _ = unix.Poll(waits, 1)
	}
	p.asleep.Store(false)
	return waits[0].Revents != 0
}
