package rankstore

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A Kind is a class of versions: only versions of one kind share chunks with their predecessor, and
// each kind is dropped independently.
type Kind uint64

// A Label names a version.
type Label struct {
	Kind          Kind
	Epoch, Number uint64
	// Rank is the rank of the version, for homes that have versions of several ranks.
	Rank uint32
}

// Compare orders labels: by kind, then the older one first, then by rank.
func (l Label) Compare(other Label) int {
	return cmp.Or(cmp.Compare(l.Kind, other.Kind), cmp.Compare(l.Epoch, other.Epoch), cmp.Compare(l.Number, other.Number), cmp.Compare(l.Rank, other.Rank))
}

// String is for errors.
func (l Label) String() string {
	return fmt.Sprintf("%d:%d.%d of %d", l.Kind, l.Epoch, l.Number, l.Rank)
}

// RootsMax is the maximal number of versions of a home.
const RootsMax = 16

const (
	rootBytes = 64
	rootHead  = 48 // bytes before the sequence number
	rootCheck = 44 // the place of the checksum of the root
)

var crcTable = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crcTable) }

// A root leads to the table of a version.
type root struct {
	label Label
	first uint32 // chunk of the table
	bytes uint32 // of the table
	crc   uint32 // of the table
	seq   uint64 // of two roots with one label the root with the greater seq counts
}

// encode returns the stored form of the root. The sequence number is stored last: without it, or
// with the number of another root, the rest is invalid.
//
//	0 kind   8 epoch   16 number   24 first   28 bytes   32 crc
//	36 rank  40 zero   44 crc of the root     48 seq
func (r root) encode() []byte {
	b := make([]byte, 0, rootHead+8)
	for _, v := range []uint64{uint64(r.label.Kind), r.label.Epoch, r.label.Number} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, v := range []uint32{r.first, r.bytes, r.crc, r.label.Rank, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, r.check(b))
	return binary.LittleEndian.AppendUint64(b, r.seq)
}

// check returns the checksum of all of a root except the checksum itself.
func (r root) check(b []byte) uint32 {
	return crc32.Update(checksum(b[:rootCheck]), crcTable, binary.LittleEndian.AppendUint64(nil, r.seq))
}

// readRoot decodes a root; ok is false if b is not a valid root.
func readRoot(b []byte) (r root, ok bool) {
	word := binary.LittleEndian.Uint64
	half := binary.LittleEndian.Uint32
	r = root{
		label: Label{Kind(word(b)), word(b[8:]), word(b[16:]), half(b[36:])},
		first: half(b[24:]), bytes: half(b[28:]), crc: half(b[32:]), seq: word(b[rootHead:]),
	}
	ok = r.seq > 0 && half(b[rootCheck:]) == r.check(b) && r.bytes <= tableMax &&
		r.first >= 1 && int(r.first)+chunksOf(int(r.bytes)) <= chunksMax
	return r, ok
}
