package park

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/mono"
	"golang.org/x/sys/unix"
)

// Bells is the Sleeper of processes that wait for their doorbell and for sockets at once. Each
// doorbell has an eventfd, and its owner sleeps in epoll on the eventfd and on the owner's sockets.
// Words and flags are the same as for every other Sleeper, so a ringer first checks whether the
// owner sleeps.
//
// No ring between the last poll and the sleep is missed, because the eventfd stays readable:
//
//	owner: raises its flag, polls: nothing     ringer: changes the word, takes the flag
//	                                           ringer: writes the eventfd
//	owner: epoll_wait: the eventfd is readable: returns at once
type Bells struct {
	index  func(word *uint32) int // the number of a word's doorbell
	rings  []int                  // eventfd of each doorbell; -1: its owner is not on this node
	mine   int                    // the owner's eventfd
	asleep atomic.Int32           // threads of the owner that sleep, or are about to
	poll   int                    // the owner's epoll set, with mine in it; -1: this process never sleeps here
}

// NewBells returns the Sleeper of a process that only rings. Index returns the number of a word's
// doorbell, less than count, or -1. The slice here lists the doorbells of this node, and fds, of
// the same length, their eventfds.
func NewBells(index func(word *uint32) int, count int, here, fds []int) *Bells {
	b := &Bells{index: index, rings: slices.Repeat([]int{-1}, count), mine: -1, poll: -1}
	for i, bell := range here {
		b.rings[bell] = fds[i]
	}
	return b
}

// Owner returns the Sleeper of the process with doorbell me, which sleeps in the epoll set poll.
// Owner adds the process's eventfd to the set, with data as the event's data.
func (b *Bells) Owner(me, poll int, data uint64) (*Bells, error) {
	owner := &Bells{index: b.index, rings: b.rings, mine: b.rings[me], poll: poll}
	return owner, unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, owner.mine, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(uint32(data)), Pad: int32(data >> 32)})
}

// Sleep implements Sleeper. Word is the owner's doorbell. Sleep also returns when a socket of the
// set is ready, without naming the socket.
func (b *Bells) Sleep(word *uint32, old uint32, timeout mono.Duration) {
	slept()
	b.asleep.Add(1)
	defer b.asleep.Add(-1)
	if atomic.LoadUint32(word) != old {
		return
	}
	if int(napping.Add(1)) < runtime.GOMAXPROCS(0) {
		over := b.nap(&timeout)
		napping.Add(-1)
		if over {
			return
		}
	} else {
		napping.Add(-1)
	}
	_, _ = b.wait(timeout, false)
}

// nap sleeps for up to a second as Futex does: without giving up its P.
func (b *Bells) nap(timeout *mono.Duration) (over bool) {
	for range napsMax {
		d := mono.Duration(napNs)
		if *timeout >= 0 {
			d = min(d, *timeout)
			*timeout -= d
		}
		n, errno := b.wait(d, true)
		if n > 0 || errno != 0 && errno != unix.EINTR || *timeout == 0 {
			return true
		}
		if errno == 0 {
			home.rest()
		}
		runtime.Gosched() // the runtime may have asked this goroutine to stop
	}
	return false
}

// wait sleeps once, and empties the eventfd if that has ended the sleep.
func (b *Bells) wait(timeout mono.Duration, keepsP bool) (n int, errno syscall.Errno) {
	var events [1]unix.EpollEvent
	ms := int64(-1)
	if timeout >= 0 {
		ms = (int64(timeout) + int64(mono.Millisecond) - 1) / int64(mono.Millisecond)
	}
	call := syscall.Syscall6
	if keepsP {
		call = rawSyscall6
	}
	r, _, errno := call(unix.SYS_EPOLL_PWAIT, uintptr(b.poll), uintptr(unsafe.Pointer(&events[0])), 1, uintptr(ms), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if r > 0 {
		b.empty()
	}
	return int(r), 0
}

// empty empties the eventfd, unless another thread of this process may sleep for the same ring:
//
//	caller: raises its flag, polls        ringer: takes the flag, writes the eventfd
//	                                      background: wakes, empties it
//	caller: epoll_wait: sleeps on
//
// So empty fills the eventfd again if another thread sleeps. The caller then finds the eventfd
// readable, and empties it when no other thread sleeps.
func (b *Bells) empty() {
	var count [8]byte
	n, _, _ := syscall.RawSyscall(unix.SYS_READ, uintptr(b.mine), uintptr(unsafe.Pointer(&count[0])), 8)
	if n == 8 && b.asleep.Load() > 1 {
		b.ring(b.mine)
	}
}

func (b *Bells) ring(fd int) {
	one := uint64(1)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8)
}

func rawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno) {
	return syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
}

// Wake implements Sleeper.
func (b *Bells) Wake(word *uint32) {
	i := b.index(word)
	if i < 0 || i >= len(b.rings) || b.rings[i] < 0 {
		return
	}
	b.ring(b.rings[i])
}

// Move implements Sleeper. A sleeper cannot be moved to another word here, so Move wakes the owner
// of word.
func (b *Bells) Move(word, _ *uint32) { b.Wake(word) }

// words returns the Sleeper for other words, which have no eventfd. A thread that slept in the
// epoll set for such a word would consume the ring for the doorbell.
func (b *Bells) words() Sleeper { return Futex{} }

// Yield implements Sleeper.
func (b *Bells) Yield() { Futex{}.Yield() }
