package transport

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// The two header words of a data cell, and the content of its inline part.
//
//	word 1: context (32) | tag (32)
//	word 2: size (40) | element (8) | kind (8) | flags (8)
//	inline: Eager    payload, or payload position (8) when flagOut is set
//	        Announce handle (8); with flagOut address (8), transfer (8)
//	        Chunk    handle (8), offset (8), payload position (8)
const (
	flagOut  = 1 << 0 // the payload is in a payload ring; of an Announce: in the sender's memory
	flagSync = 1 << 1
	flagLong = 1 << 2 // the payload ring is the one for long payloads

	kindShift, elemShift, sizeShift = 8, 16, 24
	kindMask                        = 0xff << kindShift
)

// A Label holds the fields by which a receive is matched and checked.
type Label struct {
	Ctx  uint32 // the receiver's context
	Tag  int32
	Elem uint8
}

// words returns the header words of an Eager message of size bytes whose payload is inside its
// cell.
func (l Label) words(size int) (w1, w2 uint64) {
	return uint64(l.Ctx)<<32 | uint64(uint32(l.Tag)), uint64(size)<<sizeShift | uint64(l.Elem)<<elemShift | uint64(Eager)<<kindShift
}

// inline decodes header words that words has encoded; false: they are those of another kind of
// frame.
func inline(w1, w2 uint64) (l Label, size uint64, ok bool) {
	size = w2 >> sizeShift
	ok = w2&(kindMask|flagOut) == uint64(Eager)<<kindShift && size <= segment.InlineBytes
	return Label{Ctx: uint32(w1 >> 32), Tag: int32(uint32(w1)), Elem: uint8(w2 >> elemShift)}, size, ok
}

func putHeader(c *segment.Cell, h *Header, flags uint64) {
	if h.Sync {
		flags |= flagSync
	}
	c.SetWords(uint64(h.Ctx)<<32|uint64(uint32(h.Tag)), uint64(h.Size)<<sizeShift|uint64(h.Elem)<<elemShift|uint64(h.Kind)<<kindShift|flags)
}

// header copies the header out of a cell once: a faulty peer that writes there later cannot change
// the fields that were checked.
func header(c *segment.Cell, h *Header) (flags uint64) {
	w1, w2 := c.Word1, c.Word2
	h.Ctx, h.Tag = uint32(w1>>32), int32(uint32(w1))
	h.Size, h.Elem, h.Kind = int(w2>>sizeShift), uint8(w2>>elemShift), Kind(uint8(w2>>kindShift))
	h.Sync = w2&flagSync != 0
	h.Handle, h.Offset, h.Addr, h.Transfer = 0, 0, 0, 0
	return w2
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
