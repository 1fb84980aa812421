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

// Token tells a Region from all others that ever are.
type Token [2]uint64

// An Offer says where a Region is. It can be sent as it lies in memory.
type Offer struct {
	Token Token
	Pid   uint64 // of the owner, and its descriptor; 0: goroutine ranks
	Fd    uint64
	Bytes uint64
}

// ErrForeign says that what lies where an Offer said is not what was offered: its owner is gone,
// and somebody else has its number.
var ErrForeign = errors.New("not the memory that was offered")

// IsWithdrawn reports whether an error of Find says that the process which made the offer has
// closed the Region since. Its descriptor may be that of another file by now.
func IsWithdrawn(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENXIO) || errors.Is(err, ErrForeign)
}

// A Region is memory that one member has made and others use. Its methods may be called from any
// goroutine.
type Region struct {
	token  Token
	body   []byte
	mapped []byte       // all of it, with the page that names it; nil: Go memory
	fd     int          // -1: none
	users  atomic.Int32 // windows of this process that use it
}

// headBytes is in front of the body between processes: the token, and nothing else.
const headBytes = 4096

// Heap returns a Region of n zeroed bytes for goroutine ranks.
func Heap(n int) *Region {
	r := &Region{token: newToken(), fd: -1, body: heapBytes(n)}
	r.users.Store(1)
	shown.Store(r.token, weak.Make(r))
	runtime.AddCleanup(r, func(t Token) { shown.Delete(t) }, r.token)
	return r
}

// shown are the Regions on the heap, by token, as long as somebody uses them.
var shown sync.Map

func heapBytes(n int) []byte {
	words := make([]uint64, (n+7)/8+segment.Line/8)
	base := unsafe.Pointer(unsafe.SliceData(words))
	skip := -uintptr(base) & (segment.Line - 1)
	return unsafe.Slice((*byte)(unsafe.Add(base, skip)), roundUp(n, 8))
}

// Own returns a Region of a program's memory, which no other process reaches. Its length may be
// any.
func Own(mem []byte) *Region {
	r := &Region{token: newToken(), fd: -1, body: mem}
	r.users.Store(1)
	return r
}

// IsWhole says whether the numbers in a program's memory can be changed atomically: each of unit
// bytes begins at a multiple of that, and those of less than 4 bytes fill words. Records have none.
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

// FindHeap returns the Region of a goroutine rank that was offered.
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
	_, _ = crand.Read(b[:]) // it never fails
	return Token{binary.NativeEndian.Uint64(b[:]), binary.NativeEndian.Uint64(b[8:])}
}

// Token returns the name of the Region.
func (r *Region) Token() Token { return r.token }

// Bytes returns the memory. Its length is a multiple of 8.
func (r *Region) Bytes() []byte { return r.body }

// Retain counts one more window that uses the Region, and returns it.
func (r *Region) Retain() *Region {
	r.users.Add(1)
	return r
}

// Release ends the use by a window. When no window uses it any more a mapped Region is given
// back: whoever still has a slice of it gets a fault with its address, not another window's memory.
func (r *Region) Release() {
	if r.users.Add(-1) == 0 {
		r.unmap()
	}
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
