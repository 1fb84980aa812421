package segment

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"golang.org/x/sys/unix"
)

// RemoteMax is the most bytes for one ReadRemote or WriteRemote: the thread does not stop for the
// garbage collector meanwhile.
const RemoteMax = 256 << 10

// ReadRemote copies from another process's memory into dst. The address belongs to the other
// process; the kernel checks the address.
func ReadRemote(pid int, dst []byte, addr uint64) error {
	return remote(unix.SYS_PROCESS_VM_READV, pid, dst, addr)
}

// WriteRemote copies src into another process's memory.
func WriteRemote(pid int, src []byte, addr uint64) error {
	if failpoint.Counting {
		failpoint.Here()
	}
	return remote(unix.SYS_PROCESS_VM_WRITEV, pid, src, addr)
}

// AddressOf is the address of b for another process. b must stay alive, and may not lie on a stack:
// stacks move.
func AddressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

type remoteVector struct {
	base uint64
	size uint64
}

func remote(call uintptr, pid int, mine []byte, addr uint64) error {
	for done := 0; done < len(mine); {
		here := unix.Iovec{Base: &mine[done]}
		here.SetLen(len(mine) - done)
		there := remoteVector{base: addr + uint64(done), size: uint64(len(mine) - done)}
		n, _, errno := syscall.RawSyscall6(call, uintptr(pid), uintptr(unsafe.Pointer(&here)), 1, uintptr(unsafe.Pointer(&there)), 1, 0)
		if errno != 0 {
			return fmt.Errorf("copy %d bytes between processes: %w", len(mine), errno)
		}
		done += int(n)
	}
	return nil
}
