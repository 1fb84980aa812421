package window

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
	"weak"

	"github.com/goulfm/goulfm/internal/shm/kernel"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Token distinguishes a Region from all other Regions, for ever.
type Token [2]uint64

// An Offer is the address of a Region. An Offer can be sent byte by byte.
type Offer struct {
	Token Token
	Pid   uint64 // of the owner, and its descriptor; 0: goroutine ranks
	Fd    uint64
	Bytes uint64
}

// ErrForeign means that the memory at the address of an Offer is not the offered Region: the owner
// has ended or closed the Region, and its process number or descriptor is in use again.
var ErrForeign = errors.New("not the memory that was offered")

// IsWithdrawn reports whether an error of Find means that the process which made the offer has
// closed the Region since, or has ended. Its descriptor may belong to another file by now.
func IsWithdrawn(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENXIO) || errors.Is(err, ErrForeign)
}

// A Region is memory that one member has made and others use. Its methods may be called from any
// goroutine.
type Region struct {
	token  Token
	body   []byte
	mapped []byte       // the whole mapping, with the page of the token; nil: Go memory
	fd     int          // -1: none
	users  atomic.Int32 // windows of this process that use the Region
}

// headBytes is the length of the head before the body, in Regions between processes. The head holds
// only the token.
const headBytes = 4096

// Heap returns a Region of n zeroed bytes for goroutine ranks.
func Heap(n int) *Region {
	r := &Region{token: newToken(), fd: -1, body: heapBytes(n)}
	r.users.Store(1)
	shown.Store(r.token, weak.Make(r))
	runtime.AddCleanup(r, func(t Token) { shown.Delete(t) }, r.token)
	return r
}

// shown holds the Regions on the heap that are in use, by token.
var shown sync.Map

func heapBytes(n int) []byte {
	words := make([]uint64, (n+7)/8+segment.Line/8)
	base := unsafe.Pointer(unsafe.SliceData(words))
	skip := -uintptr(base) & (segment.Line - 1)
	return unsafe.Slice((*byte)(unsafe.Add(base, skip)), roundUp(n, 8))
}

// Own returns a Region of a program's memory, which no other process can map. It may have any
// length.
func Own(mem []byte) *Region {
	r := &Region{token: newToken(), fd: -1, body: mem}
	r.users.Store(1)
	return r
}

// IsWhole reports whether the numbers in a program's memory can be changed atomically: a number of
// unit bytes must be aligned to min(unit, 8) bytes, and numbers of less than 4 bytes must fill
// whole words. Records contain no such numbers, so the result is true.
func IsWhole(mem []byte, unit int, elem kernel.Elem) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	switch {
	case elem == 0 || len(mem) == 0:
		return true
	case unit < 4:
		return at%4 == 0 && len(mem)%4 == 0
	}
	return at%uintptr(min(unit, 8)) == 0
}

// FindHeap returns the offered Region of a goroutine rank.
func FindHeap(o Offer) (*Region, error) {
	if p, ok := shown.Load(o.Token); ok {
		if r := p.(weak.Pointer[Region]).Value(); r != nil && uint64(len(r.body)) >= o.Bytes {
			return r.Retain(), nil
		}
	}
	return nil, ErrForeign
}

func newToken() (t Token) {
	var b [16]byte
	_, _ = crand.Read(b[:]) // Read never fails
	return Token{binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:])}
}

// Token returns the name of the Region.
func (r *Region) Token() Token { return r.token }

// Bytes returns the memory. Except for Own, its length is a multiple of 8.
func (r *Region) Bytes() []byte { return r.body }

// Retain counts one more window that uses the Region, and returns it.
func (r *Region) Retain() *Region {
	r.users.Add(1)
	return r
}

// Release ends the use by a window. The last Release of a mapped Region frees its pages. Later
// accesses through old slices fault at their address and do not reach the memory of another window.
func (r *Region) Release() {
	if r.users.Add(-1) == 0 {
		r.unmap()
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
