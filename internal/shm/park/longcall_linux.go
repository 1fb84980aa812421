package park

import (
	"syscall"
	_ "unsafe" // for the two names of the runtime
)

// LongCall makes a system call that blocks for long. Before the call blocks, LongCall gives the P
// of its goroutine to others.
//
// syscall.Syscall6 keeps the P for up to 10 ms, and the monitor thread of the Go runtime polls
// meanwhile: every 20 us for the first millisecond. A watcher that learns of a death and sleeps
// again would so take a tenth of a processor from the survivors while they repair.
//
// The runtime keeps entersyscallblock for programs that link to this function by name
// (go.dev/issue/67401). Both calls must be made by one function that does not grow its stack in
// between.
//
//go:nosplit
//go:norace
//go:uintptrescapes
func LongCall(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1 uintptr, errno syscall.Errno) {
	entersyscallblock()
	r1, _, errno = syscall.RawSyscall6(trap, a1, a2, a3, a4, a5, a6)
	exitsyscall()
	return r1, errno
}

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()
