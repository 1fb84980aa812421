package window

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Place says where a Region of a program's memory (Own) lies. The Region must stay in use as long
// as somebody copies.
func (r *Region) Place() Place {
	return Place{Pid: uint64(os.Getpid()), At: segment.AddressOf(r.body), TokenAt: uint64(uintptr(unsafe.Pointer(&r.token)))}
}

// SourceAt returns the memory at a Place, if the kernel lets this process read there and the token
// is found: the number may be that of another process, as one of another container.
func SourceAt(p Place, t Token) Source {
	s := Source{p, t}
	if p.Pid == 0 || !s.Read(0, nil) {
		return Source{}
	}
	return s
}

const tokenBytes = 16

// readMax is the most bytes to copy in one call: the kernel ends a longer one early.
const readMax = 1 << 30

// Read copies from byte at on into dst. It says false if the kernel has refused, or the process has
// ended. Then dst is as it was; but where the kernel takes memory away from a process that it kills
// because there is none left, it may have some of what was there.
//
// It is one call, which reads the token last: while it runs the kernel keeps the memory, also if
// the process is killed. So either all of dst is of the process that has this token, or it is
// false, though numbers of processes are used again.
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
