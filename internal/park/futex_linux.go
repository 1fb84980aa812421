package park

import (
	"syscall"
	"unsafe"

	"github.com/goulfm/goulfm/internal/mono"
	"golang.org/x/sys/unix"
)

// Futex sleeps in the kernel on a word that several processes may map. The
// calls are not PRIVATE: the kernel finds the word by the memory behind it.
type Futex struct{}

const (
	futexWait = 0
	futexWake = 1
	everybody = 1<<31 - 1
)

// Sleep implements Sleeper.
func (Futex) Sleep(word *uint32, old uint32, timeout mono.Duration) {
	var ts *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(int64(timeout))
		ts = &t
	}
	// EAGAIN (the word has changed), EINTR and ETIMEDOUT all mean: look again.
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(old), uintptr(unsafe.Pointer(ts)), 0, 0)
}

// Wake implements Sleeper.
func (Futex) Wake(word *uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, everybody, 0, 0, 0)
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

// SleepAny sleeps until one of the words differs from its old value or is woken;
// words and old have the same length, at most AnyMax.
func SleepAny(words []*uint32, old []uint32) error {
	var list [AnyMax]waitv
	for i, w := range words {
		list[i] = waitv{val: uint64(old[i]), uaddr: uint64(uintptr(unsafe.Pointer(w))), flags: futex2Size32}
	}
	_, _, errno := syscall.Syscall6(sysFutexWaitv, uintptr(unsafe.Pointer(&list[0])), uintptr(len(words)), 0, 0, 0, 0)
	switch errno {
	case 0, unix.EAGAIN, unix.EINTR, unix.ETIMEDOUT:
		return nil
	}
	return errno
}
