package rankstore

import (
	"encoding/binary"

	"github.com/goulfm/goulfm/internal/base/rankset"
	"github.com/goulfm/goulfm/internal/base/wire"
)

const (
	chunkBytes = 64 << 10
	chunksMax  = homeBytes / chunkBytes // chunk 0 has the roots

	// PartsMax bounds the parts of a version, tableMax the bytes of a table: 8 for each chunk, and
	// more than enough for the names.
	PartsMax   = 4096
	tableMax   = 16 << 20
	stringsMax = 1 << 10
)

// A Part is a piece of a version, for example one protected variable of a program.
type Part struct {
	Name, Kind string // at most 1 KiB each
	Elem       int    // bytes of an element
	Data       []byte // nil differs from empty
}

// A table holds the places of the parts of a version.
type table []entry

// An entry describes one part.
type entry struct {
	name, kind string
	elem       int
	absent     bool // the data are nil
	bytes      int
	chunks     []chunk // 64 KiB each, the last may be shorter
}

// A chunk is a place in a home, and the checksum of its contents.
type chunk struct{ number, crc uint32 }

func chunksOf(bytes int) int { return (bytes + chunkBytes - 1) / chunkBytes }

// pieceOf returns the bounds of chunk i in data of the given length.
func pieceOf(bytes, i int) (from, to int) { return i * chunkBytes, min(bytes, (i+1)*chunkBytes) }

func (t table) encode() []byte {
	b := wire.AppendUint(nil, uint64(len(t)))
	for _, e := range t {
		b = wire.AppendBytes(b, []byte(e.name))
		b = wire.AppendBytes(b, []byte(e.kind))
		b = wire.AppendUint(b, uint64(e.elem))
		b = wire.AppendBool(b, e.absent)
		b = wire.AppendUint(b, uint64(e.bytes))
		for _, c := range e.chunks {
			b = binary.LittleEndian.AppendUint32(b, c.number)
			b = binary.LittleEndian.AppendUint32(b, c.crc)
		}
	}
	return b
}

// chunks returns the number of chunks of the data.
func (t table) chunks() (n int) {
	for _, e := range t {
		n += len(e.chunks)
	}
	return n
}

// readTable decodes the result of encode. No chunk may occur twice in a table, so the data of a
// table are not larger than a home.
func readTable(b []byte) (table, error) {
	r := wire.NewReader(b)
	var seen rankset.Set
	n := r.Below(PartsMax + 1)
	t := make(table, 0, min(n, r.Left()))
	for range n {
		e := entry{name: readString(r), kind: readString(r), elem: r.Below(1 << 31), absent: r.Bool(), bytes: r.Below(homeBytes)}
		if r.Err() != nil {
			break
		}
		e.chunks = make([]chunk, 0, min(chunksOf(e.bytes), r.Left()/8))
		for range chunksOf(e.bytes) {
			c := chunk{readHalf(r), readHalf(r)}
			if r.Err() != nil || c.number < 1 || c.number >= chunksMax || seen.Has(int(c.number)) {
				return nil, ErrTorn
			}
			seen.Add(int(c.number))
			e.chunks = append(e.chunks, c)
		}
		t = append(t, e)
	}
	if r.Done() != nil {
		return nil, ErrTorn
	}
	return t, nil
}

func readString(r *wire.Reader) string {
	b := r.Bytes()
	if len(b) > stringsMax {
		return ""
	}
	return string(b)
}

func readHalf(r *wire.Reader) uint32 {
	var v uint32
	for i := range 4 {
		v |= uint32(r.Byte()) << (8 * i)
	}
	return v
}

// find returns the entry of a name, or an empty entry.
func (t table) find(name string) entry {
	for _, e := range t {
		if e.name == name {
			return e
		}
	}
	return entry{}
}
