// Package firstfit says where in a stretch of memory objects lie: each new one in the first place
// in which there is room for it. It is a pure rule, so that processes which make the same calls
// have the same places, and nobody has to be told.
package firstfit

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// Line is at multiples of how many bytes objects begin: no two share a cache line.
const Line = 64

// A Space is which bytes are taken. The zero value with Bytes has none.
type Space struct {
	Bytes  int
	made   uint64 // how many objects there ever were
	blocks []Block
}

// A Block is an object's memory: blocks do not overlap, and are in order.
type Block struct {
	Off, Bytes int
	ID         uint64 // no other object of the Space has it
}

// Fit returns the first place for an object, and where it comes in the order; ok is false if there
// is none.
func (s *Space) Fit(bytes int) (b Block, at int, ok bool) {
	free := 0
	for i, other := range s.blocks {
		if other.Off-free >= bytes {
			return Block{free, bytes, s.made + 1}, i, true
		}
		free = RoundUp(other.Off + other.Bytes)
	}
	return Block{free, bytes, s.made + 1}, len(s.blocks), bytes <= s.Bytes-free
}

// Take has the object of Fit take its place.
func (s *Space) Take(b Block, at int) {
	s.made = b.ID
	s.blocks = slices.Insert(s.blocks, at, b)
}

// Find returns where a block is in the order; -1: it was given back.
func (s *Space) Find(b Block) int { return slices.Index(s.blocks, b) }

// Give gives the memory of a block back.
func (s *Space) Give(at int) { s.blocks = slices.Delete(s.blocks, at, at+1) }

// Digest is a number that differs between Spaces that differ, but for one in 2^32, and with what
// is asked of them.
func (s *Space) Digest(asked ...uint64) uint32 {
	h := fnv.New32a()
	put := func(v uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	put(uint64(s.Bytes))
	put(s.made)
	for _, b := range s.blocks {
		put(uint64(b.Off))
		put(uint64(b.Bytes))
		put(b.ID)
	}
	for _, v := range asked {
		put(v)
	}
	return h.Sum32()
}

// Clone returns a copy.
func (s *Space) Clone() Space {
	return Space{Bytes: s.Bytes, made: s.made, blocks: slices.Clone(s.blocks)}
}

// RoundUp is the next place where an object may begin.
func RoundUp(n int) int { return (n + Line - 1) / Line * Line }
