package publish

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Commands of membarrier(2).
const (
	silenceGlobal            = 1 << 0
	silenceExpedited         = 1 << 1
	silenceRegisterExpedited = 1 << 2
)

// Silenceable makes Silence of other processes reach this process, and reports whether the kernel
// supports that. The first call takes milliseconds.
func Silenceable() bool { return barrier(silenceRegisterExpedited) }

// Silence returns when no thread of a killed process can store any more, if the process was
// Silenceable and its first thread has ended. The result reports whether the kernel supports that.
// The call takes microseconds, or tens of milliseconds on kernels without the fast command.
//
// A fatal signal is pending in every thread of a process before the first thread ends. The kernel
// interrupts each running thread, and a thread with such a signal does not return to its program:
//
//	thread 1 of the killed   marked as ended
//	thread 2 of it           stores          interrupted, ends
//	this process             sees the mark   Silence            loads: no later store follows
//
// Silence is no fence for stores by the kernel, such as those of process_vm_writev.
func Silence() bool { return barrier(silenceExpedited) || barrier(silenceGlobal) }

func barrier(command uintptr) bool {
	_, _, errno := syscall.RawSyscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
