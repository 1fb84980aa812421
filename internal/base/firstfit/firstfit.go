// Package firstfit assigns objects to places in a stretch of memory: a new object gets the first
// place with enough room. The rule is pure, so that processes which make the same calls have the
// same places without a message.
package firstfit

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// Line is the alignment of objects in bytes: no two share a cache line.
const Line = 64

// A Space records the bytes that are in use. In the zero value with Bytes no byte is.
type Space struct {
	Bytes  int
	made   uint64 // number of all objects so far
	blocks []Block
}

// A Block is an object's memory: blocks do not overlap, and are in order.
type Block struct {
	Off, Bytes int
	ID         uint64 // unique in the Space
}

// Fit returns the first place for an object, and the index of this place in the order; ok is false
// if there is no room.
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

// Take assigns the place that Fit has returned to the object.
func (s *Space) Take(b Block, at int) {
	s.made = b.ID
	s.blocks = slices.Insert(s.blocks, at, b)
}

// Find returns the index of a block in the order; -1: the block was given back.
func (s *Space) Find(b Block) int { return slices.Index(s.blocks, b) }

// Give returns the memory of the block at an index.
func (s *Space) Give(at int) { s.blocks = slices.Delete(s.blocks, at, at+1) }

// Digest returns a hash of the Space and of the requests in asked. Different inputs have different
// hashes, except for about one in 2^32.
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

// RoundUp returns the next place at which an object may begin.
func RoundUp(n int) int { return (n + Line - 1) / Line * Line }
