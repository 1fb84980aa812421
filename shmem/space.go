package shmem

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// line is at multiples of how many bytes objects begin: no two share a cache line.
const line = 64

// space is which bytes of a heap are taken. It is a pure rule: PEs that make the same calls have the
// same space, so nobody has to be told where an object is.
type space struct {
	bytes  int
	made   uint64 // how many objects there ever were
	blocks []block
}

// block is an object's memory: blocks do not overlap, and are in order.
type block struct {
	off, bytes int
	id         uint64 // no other object has it
}

// fit returns the first place for an object, and where it comes in the order; ok is false if there is
// none.
func (s *space) fit(bytes int) (b block, at int, ok bool) {
	free := 0
	for i, other := range s.blocks {
		if other.off-free >= bytes {
			return block{free, bytes, s.made + 1}, i, true
		}
		free = roundUp(other.off + other.bytes)
	}
	return block{free, bytes, s.made + 1}, len(s.blocks), bytes <= s.bytes-free
}

// take has the object of fit take its place.
func (s *space) take(b block, at int) {
	s.made = b.id
	s.blocks = slices.Insert(s.blocks, at, b)
}

// find returns where a block is in the order; -1: it was given back.
func (s *space) find(b block) int { return slices.Index(s.blocks, b) }

// give gives the memory of a block back.
func (s *space) give(at int) { s.blocks = slices.Delete(s.blocks, at, at+1) }

// digest is a number that differs between spaces that differ, but for one in 2^32, and with what
// is asked of them.
func (s *space) digest(asked ...uint64) uint32 {
	h := fnv.New32a()
	put := func(v uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	put(uint64(s.bytes))
	put(s.made)
	for _, b := range s.blocks {
		put(uint64(b.off))
		put(uint64(b.bytes))
		put(b.id)
	}
	for _, v := range asked {
		put(v)
	}
	return h.Sum32()
}

func (s *space) clone() space {
	return space{bytes: s.bytes, made: s.made, blocks: slices.Clone(s.blocks)}
}

// roundUp is the next place where an object may begin.
func roundUp(n int) int { return (n + line - 1) / line * line }
