package segment

import (
	"fmt"
	"unsafe"
)

// Line is the size in bytes of the unit of memory that one processor owns at a time.
const Line = 64

// A Memory is a stretch of shared memory, aligned to a Line. Its address never changes.
type Memory struct {
	bytes  []byte
	mapped bool // not Go memory
}

// Heap returns a zeroed Memory of Go memory.
func Heap(size int) Memory {
	words := make([]uint64, size/8+Line/8)
	base := unsafe.Pointer(unsafe.SliceData(words))
	skip := -uintptr(base) & (Line - 1)
	return Memory{bytes: unsafe.Slice((*byte)(unsafe.Add(base, skip)), size)}
}

// Size returns the length in bytes.
func (m Memory) Size() int { return len(m.bytes) }

// Part returns size bytes of m from off on, a multiple of a Line.
func (m Memory) Part(off, size int) Memory {
	_ = m.at(off, size, Line)
	return Memory{bytes: m.bytes[off : off+size : off+size], mapped: m.mapped}
}

// Region returns all of m.
func (m Memory) Region() Region { return Region{m: m, size: len(m.bytes)} }

func (m Memory) at(off, size, align int) unsafe.Pointer {
	if off < 0 || off > len(m.bytes)-size || off%align != 0 {
		panic(fmt.Sprintf("goulfm: shared memory: offset %d size %d in a segment of %d bytes", off, size, len(m.bytes)))
	}
	return unsafe.Pointer(&m.bytes[off])
}

func (m Memory) word32(off int) *uint32 { return (*uint32)(m.at(off, 4, 4)) }
func (m Memory) word64(off int) *uint64 { return (*uint64)(m.at(off, 8, 8)) }

func (m Memory) words32(off, n int) []uint32 {
	return unsafe.Slice((*uint32)(m.at(off, 4*n, 4)), n)
}

func (m Memory) words64(off, n int) []uint64 {
	return unsafe.Slice((*uint64)(m.at(off, 8*n, 8)), n)
}

func (m Memory) slice(off, n int) []byte {
	_ = m.at(off, n, 1)
	return m.bytes[off : off+n : off+n]
}

func (m Memory) cells(off, n int) []Cell {
	return unsafe.Slice((*Cell)(m.at(off, n*CellBytes, Line)), n)
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }
