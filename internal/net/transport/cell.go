package transport

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/shm/segment"
)

// A data cell's two header words, and what its inline part holds.
//
//	word 1: context (32) | tag (32)
//	word 2: size (40) | element (8) | kind (8) | flags (8)
//	inline: Eager    payload, or payload position (8) when flagOut is set
//	        Announce handle (8); with flagOut address (8), transfer (8)
//	        Chunk    handle (8), offset (8), payload position (8)
const (
	flagOut  = 1 << 0 // the payload is in a payload ring; of an Announce: in the sender's memory
	flagSync = 1 << 1
	flagLong = 1 << 2 // that is the one for long payloads

	kindShift, elemShift, sizeShift = 8, 16, 24
	kindMask                        = 0xff << kindShift
)

// Label is what a receive is matched and checked by.
type Label struct {
	Ctx  uint32 // the receiver's context
	Tag  int32
	Elem uint8
}

// words are the header words of an Eager message of so many bytes that stands in its cell.
func (l Label) words(size int) (w1, w2 uint64) {
	return uint64(l.Ctx)<<32 | uint64(uint32(l.Tag)), uint64(size)<<sizeShift | uint64(l.Elem)<<elemShift | uint64(Eager)<<kindShift
}

// inline reads what words made; false: it is another frame's.
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

// header copies the header out of a cell once: what a peer writes there later,
// wrongly, cannot change what was checked.
func header(c *segment.Cell, h *Header) (flags uint64) {
	w1, w2 := c.Word1, c.Word2
	h.Ctx, h.Tag = uint32(w1>>32), int32(uint32(w1))
	h.Size, h.Elem, h.Kind = int(w2>>sizeShift), uint8(w2>>elemShift), Kind(uint8(w2>>kindShift))
	h.Sync = w2&flagSync != 0
	h.Handle, h.Offset, h.Addr, h.Transfer = 0, 0, 0, 0
	return w2
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
