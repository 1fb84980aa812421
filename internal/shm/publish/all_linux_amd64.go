//go:build !race

package publish

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Commands of membarrier(2).
const (
	globalExpedited         = 1 << 1
	registerGlobalExpedited = 1 << 2
)

// Register reports whether FenceAll of other processes reaches this process from now on, so that
// this process needs no Fence.
func Register() bool { return membarrier(registerGlobalExpedited) }

// FenceAll is a Fence in all processes that have registered, at any point of their execution. It
// takes microseconds, interrupts these processes, and reports whether the kernel executed the
// fences. So of two processes only the process with the rare case must wait for its own stores:
//
//	frequent                 rare
//	publishes                publishes
//	loads the other's word   FenceAll
//	                         loads the other's word
//
// At least one of them sees the other's word: if the frequent process loads before the FenceAll,
// its word is published before the FenceAll, too.
func FenceAll() bool { return membarrier(globalExpedited) }

func membarrier(command uintptr) bool {
	_, _, errno := syscall.RawSyscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
