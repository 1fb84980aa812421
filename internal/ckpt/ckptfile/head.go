package ckptfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"math"
)

// Extension is the end of the names of files of ranks.
const Extension = ".gck"

// Bounds.
const (
	Format     = 1         // of a file of a rank
	ListFormat = 2         // of a manifest; 1: without Arguments
	ChunkBytes = 256 << 10 // of a chunk, unless a head has another value
	ChunkMax   = 16 << 20
	HeadMax    = 16 << 20
	MembersMax = 1024 // of a head
	NameMax    = 64   // bytes of a member's name
	RanksMax   = 1 << 22
)

const (
	magic       = "GULFMCK1"
	fixedHead   = len(magic) + 4 + 4
	chunkHead   = 16
	fixedIndex  = 4 + 4 // without the offsets
	trailer     = 8 + len(magic)
	entryLength = 8
)

// The reasons for which a file cannot be read.
var (
	ErrForeign = errors.New("not a checkpoint of this library")
	ErrFormat  = errors.New("a checkpoint of a newer format")
	ErrTorn    = errors.New("a checkpoint that was not written to its end")
	ErrCorrupt = errors.New("a checkpoint whose bytes have changed")
)

// Head describes the content of the file of a rank.
type Head struct {
	Job     string   `json:"job"`
	Epoch   uint64   `json:"epoch"`
	Number  uint64   `json:"number"`
	Size    int      `json:"size"` // ranks of the world that made the version
	Rank    int      `json:"rank"`
	Chunk   int      `json:"chunk"` // bytes of data in all chunks but the last
	Members []Member `json:"members"`
}

// Member is one item of the data that the program protects.
type Member struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`    // of its elements, or of its encoding
	Element int    `json:"element"` // bytes of an element; 0: it has none
	Bytes   int64  `json:"bytes"`   // of this rank's data
	// Runs has the start and the count of the elements of this rank, if they are distributed.
	Runs    [][2]int `json:"runs,omitempty"`
	Options string   `json:"options,omitempty"`
}

// check returns an error if a head is not valid.
func (h *Head) check() error {
	switch {
	case h.Size < 1 || h.Size > RanksMax || h.Rank < 0 || h.Rank >= h.Size:
		return fmt.Errorf("rank %d of %d", h.Rank, h.Size)
	case h.Chunk < 1 || h.Chunk > ChunkMax:
		return fmt.Errorf("chunks of %d bytes", h.Chunk)
	case len(h.Members) > MembersMax:
		return fmt.Errorf("%d members", len(h.Members))
	}
	total := int64(0)
	for i, m := range h.Members {
		if len(m.Name) > NameMax || m.Bytes < 0 || m.Element < 0 || m.Bytes > math.MaxInt64-ChunkMax-total {
			return fmt.Errorf("member %d, %.70q, of %d bytes", i, m.Name, m.Bytes)
		}
		total += m.Bytes
	}
	return nil
}

// Bytes returns the number of bytes of data in the file.
func (h *Head) Bytes() int64 {
	total := int64(0)
	for _, m := range h.Members {
		total += m.Bytes
	}
	return total
}

// offset returns the offset of a member in the data.
func (h *Head) offset(member int) int64 {
	at := int64(0)
	for _, m := range h.Members[:member] {
		at += m.Bytes
	}
	return at
}

// chunks returns the number of chunks.
func (h *Head) chunks() int64 { return (h.Bytes() + int64(h.Chunk) - 1) / int64(h.Chunk) }

// chunkBytes returns the number of bytes of data in chunk i.
func (h *Head) chunkBytes(i int64) int {
	return int(min(int64(h.Chunk), h.Bytes()-i*int64(h.Chunk)))
}

// checkFormat refuses formats above the newest one that this build knows, before anything else of a
// file is read: a later format may have another layout.
func checkFormat(format, newest int64) error {
	switch {
	case format > newest:
		return fmt.Errorf("%w: format %d, and this build reads formats up to %d: use the build that wrote it, or a later goulfm", ErrFormat, format, newest)
	case format < 1:
		return fmt.Errorf("%w: format %d, and formats begin at 1", ErrCorrupt, format)
	}
	return nil
}

func castagnoli(crc uint32, b []byte) uint32 {
	return crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), b)
}

// CRC returns the checksum used for all parts of a checkpoint: crc32c.
func CRC(b []byte) uint32 { return castagnoli(0, b) }

// NewCRC returns the same checksum for bytes that arrive one after the other.
func NewCRC() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

var little = binary.LittleEndian
