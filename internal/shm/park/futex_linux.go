package park

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/mono"
	"golang.org/x/sys/unix"
)

// Futex sleeps in the kernel on a word that several processes may map. The calls are not PRIVATE:
// the kernel identifies the word by the memory behind it.
type Futex struct{}

const (
	futexWait    = 0
	futexWake    = 1
	futexRequeue = 3
	everybody    = 1<<31 - 1
)

// Naps: for the first second of a wait the thread sleeps without notifying the runtime, and so
// keeps its P. In an ordinary system call the runtime takes the P away. Getting a P again costs a
// rank about 50 us of processor, most of it for the runtime's monitor thread: this thread wakes
// with the first P in use and then polls every 20 us. Right after a death all ranks of a machine
// pay this at once. The signal with which the runtime stops a goroutine ends a nap, so the garbage
// collector does not wait for a nap. At least one P is left to the program's other goroutines.
const (
	napNs   = 10e6
	napsMax = 100
)

// napping counts the threads of this process that nap, at most GOMAXPROCS-1.
var napping atomic.Int32

// Sleep implements Sleeper.
func (Futex) Sleep(word *uint32, old uint32, timeout mono.Duration) {
	slept()
	if int(napping.Add(1)) < runtime.GOMAXPROCS(0) {
		over := nap(word, old, &timeout)
		napping.Add(-1)
		if over {
			return
		}
	} else {
		napping.Add(-1)
	}
	var ts *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(int64(timeout))
		ts = &t
	}
	// EAGAIN (the word has changed), EINTR and ETIMEDOUT all mean: poll again.
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(old), uintptr(unsafe.Pointer(ts)), 0, 0)
}

// nap sleeps for up to a second without giving up its P, and reports whether the sleep is over.
func nap(word *uint32, old uint32, timeout *mono.Duration) (over bool) {
	for range napsMax {
		d := mono.Duration(napNs)
		if *timeout >= 0 {
			d = min(d, *timeout)
			*timeout -= d
		}
		ts := unix.NsecToTimespec(int64(d))
		_, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(old), uintptr(unsafe.Pointer(&ts)), 0, 0)
		if errno != unix.ETIMEDOUT && errno != unix.EINTR || *timeout == 0 {
			return true
		}
		if errno == unix.ETIMEDOUT {
			home.rest()
		}
		runtime.Gosched() // the runtime may have asked this goroutine to stop
	}
	return false
}

// Wake implements Sleeper.
func (Futex) Wake(word *uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, everybody, 0, 0, 0)
}

// Move implements Sleeper. The kernel compared each sleeper's word with its old value when the
// sleeper fell asleep; the present values of word and to do not matter.
func (Futex) Move(word, to *uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexRequeue, 0, everybody, uintptr(unsafe.Pointer(to)), 0)
}

// AnyMax is how many words one SleepAny takes (a limit of the kernel).
const AnyMax = 128

const (
	sysFutexWaitv = 449 // the same number on every architecture
	futex2Size32  = 2
)

type waitv struct {
	val   uint64
	uaddr uint64
	flags uint32
	_     uint32
}

// SleepAny sleeps until one of the words differs from its old value or is woken, or the
// monotonic clock shows untilNs (0: never); words and old have the same length, 1 to AnyMax.
func SleepAny(words []*uint32, old []uint32, untilNs int64) error {
	var list [AnyMax]waitv
	for i, w := range words {
		list[i] = waitv{val: uint64(old[i]), uaddr: uint64(uintptr(unsafe.Pointer(w))), flags: futex2Size32}
	}
	var until *unix.Timespec
	if untilNs > 0 {
		t := unix.NsecToTimespec(untilNs)
		until = &t
	}
	_, errno := LongCall(sysFutexWaitv, uintptr(unsafe.Pointer(&list[0])), uintptr(len(words)), 0, uintptr(unsafe.Pointer(until)), unix.CLOCK_MONOTONIC, 0)
	switch errno {
	case 0, unix.EAGAIN, unix.EINTR, unix.ETIMEDOUT:
		return nil
	}
	return errno
}
