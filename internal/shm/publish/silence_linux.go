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

// Silenceable has Silence of other processes reach this one, and says whether the kernel knows
// how. It takes milliseconds the first time.
func Silenceable() bool { return barrier(silenceRegisterExpedited) }

// Silence returns when no thread of a process that is being killed stores anything any more,
// if that process was Silenceable and the first of its threads has ended. It says whether the
// kernel did it; then it took microseconds, or, where it has no fast way, tens of milliseconds.
//
// A signal that kills is pending in every thread of a process before the first of them ends. The
// kernel interrupts each thread that runs just now, and one with such a signal does not
// return to its program:
//
//	thread 1 of the killed   marked as ended
//	thread 2 of it           stores          interrupted, ends
//	this process             sees the mark   Silence            looks: nothing comes after that
//
// It is no fence for stores of the kernel's own, as those of process_vm_writev.
func Silence() bool { return barrier(silenceExpedited) || barrier(silenceGlobal) }

func barrier(command uintptr) bool {
	_, _, errno := syscall.RawSyscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
