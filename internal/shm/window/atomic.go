package window

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/goulfm/goulfm/internal/base/failpoint"
	"github.com/goulfm/goulfm/internal/shm/kernel"
)

// elems are the elements that kernels support, by reflect.Kind; int and uint have 64 bits.
var elems = [...]kernel.Elem{
	reflect.Bool: kernel.Bool,
	reflect.Int:  kernel.Int64, reflect.Int8: kernel.Int8, reflect.Int16: kernel.Int16, reflect.Int32: kernel.Int32, reflect.Int64: kernel.Int64,
	reflect.Uint: kernel.Uint64, reflect.Uint8: kernel.Uint8, reflect.Uint16: kernel.Uint16, reflect.Uint32: kernel.Uint32, reflect.Uint64: kernel.Uint64,
	reflect.Float32: kernel.Float32, reflect.Float64: kernel.Float64, reflect.Complex64: kernel.Complex64, reflect.Complex128: kernel.Complex128,
}

// ElemOf returns the element of a code of package view; 0: a record, for which there are no atomic
// operations.
func ElemOf(code uint8) kernel.Elem {
	if int(code) < len(elems) {
		return elems[code]
	}
	return 0
}

// An Element is one number of 1, 2, 4 or 8 bytes in memory that others change, too. Values are
// passed in the lowest bits of a word. The memory around an element must extend to a multiple of 4
// bytes.
type Element struct {
	at    unsafe.Pointer // of the word that contains the element
	shift uint8          // of the element in the word
	bits  uint8          // of the element
	wide  bool           // the word has 64 bits
}

// At returns the element of a size at the beginning of b.
func At(b []byte, size int) Element {
	p := addressOf(b[:size:size])
	if size == 8 {
		return Element{at: p, bits: 64, wide: true}
	}
	inside := uintptr(p) & 3
	return Element{at: unsafe.Add(p, -int(inside)), shift: uint8(8 * inside), bits: uint8(8 * size)}
}

func (e Element) mask() uint32 { return uint32(1<<e.bits - 1) }

func (e Element) half() *uint32 { return (*uint32)(e.at) }
func (e Element) full() *uint64 { return (*uint64)(e.at) }

// Load returns the value.
func (e Element) Load() uint64 {
	if e.wide {
		return atomic.LoadUint64(e.full())
	}
	return uint64(atomic.LoadUint32(e.half()) >> e.shift & e.mask())
}

// Swap stores v and returns the old value.
func (e Element) Swap(v uint64) uint64 {
	if failpoint.Counting {
		failpoint.Here()
	}
	switch {
	case e.wide:
		return atomic.SwapUint64(e.full(), v)
	case e.bits == 32:
		return uint64(atomic.SwapUint32(e.half(), uint32(v)))
	}
	return e.update(func(_, in uint64) uint64 { return in }, v)
}

// CompareAndSwap stores v if the value is old. It returns the value before.
func (e Element) CompareAndSwap(old, v uint64) (prev uint64, swapped bool) {
	if failpoint.Counting {
		failpoint.Here()
	}
	for {
		if prev = e.Load(); prev != old {
			return prev, false
		}
		if e.replace(old, v) {
			return prev, true
		}
	}
}

// replace is one try of CompareAndSwap. It may fail spuriously if a neighbour in the same word
// changes.
func (e Element) replace(old, v uint64) bool {
	switch {
	case e.wide:
		return atomic.CompareAndSwapUint64(e.full(), old, v)
	case e.bits == 32:
		return atomic.CompareAndSwapUint32(e.half(), uint32(old), uint32(v))
	}
	w := atomic.LoadUint32(e.half())
	if uint64(w>>e.shift&e.mask()) != old {
		return false
	}
	return atomic.CompareAndSwapUint32(e.half(), w, w&^(e.mask()<<e.shift)|uint32(v)<<e.shift)
}

// Update replaces the value acc by f(acc, in), and returns the old value.
func (e Element) Update(f func(acc, in uint64) uint64, in uint64) uint64 {
	if failpoint.Counting {
		failpoint.Here()
	}
	return e.update(f, in)
}

func (e Element) update(f func(acc, in uint64) uint64, in uint64) uint64 {
	for {
		old := e.Load()
		if e.replace(old, f(old, in)) {
			return old
		}
	}
}

// Add adds to an integer, and returns the old value. Add is Update with a sum, in one instruction
// if the size permits.
func (e Element) Add(v uint64) uint64 {
	switch {
	case e.wide:
		if failpoint.Counting {
			failpoint.Here()
		}
		return atomic.AddUint64(e.full(), v) - v
	case e.bits == 32:
		if failpoint.Counting {
			failpoint.Here()
		}
		return uint64(atomic.AddUint32(e.half(), uint32(v)) - uint32(v))
	}
	mask := uint64(e.mask())
	return e.Update(func(acc, in uint64) uint64 { return (acc + in) & mask }, v)
}
