package window

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Place returns the Place of a Region of a program's memory (Own). The Region must stay in use
// while others copy.
func (r *Region) Place() Place {
	return Place{Pid: uint64(os.Getpid()), At: segment.AddressOf(r.body), TokenAt: uint64(uintptr(unsafe.Pointer(&r.token)))}
}

// SourceAt returns the memory at a Place, if the kernel permits this process to read there and the
// token is found: the process number may belong to another process, for example in another
// container.
func SourceAt(p Place, t Token) Source {
	s := Source{p, t}
	if p.Pid == 0 || !s.Read(0, nil) {
		return Source{}
	}
	return s
}

const tokenBytes = 16

// readMax is the maximal length of a copy in one call: the kernel truncates a longer copy.
const readMax = 1 << 30

// Read copies from byte at on into dst. It returns false if the kernel has refused, or the process
// has ended. Then dst is usually unchanged. But if the kernel reclaims memory from a process that
// it kills for lack of memory, dst may hold some bytes of that process.
//
// Read is one system call, which reads the token last. During the call the kernel keeps the memory,
// even if the process is killed. So either all of dst comes from the process that has this token,
// or Read returns false, although process numbers are used again.
func (s *Source) Read(at uint64, dst []byte) bool {
	if len(dst) > readMax {
		return false
	}
	var found Token
	local := [2]unix.Iovec{{Base: unsafe.SliceData(dst)}, {Base: (*byte)(unsafe.Pointer(&found))}}
	local[0].SetLen(len(dst))
	local[1].SetLen(tokenBytes)
	there := [2]unix.RemoteIovec{{Base: uintptr(s.place.At + at), Len: len(dst)}, {Base: uintptr(s.place.TokenAt), Len: tokenBytes}}
	n, err := unix.ProcessVMReadv(int(s.place.Pid), local[:], there[:], 0)
	return err == nil && n == len(dst)+tokenBytes && found == s.token
}
