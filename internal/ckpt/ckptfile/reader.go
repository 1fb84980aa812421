package ckptfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads the file of a rank.
type Reader struct {
	r       io.ReaderAt
	head    Head
	first   int64    // offset of the first chunk
	offsets []uint64 // of chunks, ascending
	index   int64    // offset of the index
	buf     []byte   // the stored bytes of a chunk
	data    []byte   // the data of chunk at
	at      int64    // -1: none
}

// NewReader reads the head and the index of a file of size bytes, but not its chunks. The head is
// decoded only after its checksum, which the index holds, was compared.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	f := &Reader{r: r, at: -1}
	text, crc, err := f.readHead(size)
	if err != nil {
		return nil, err
	}
	if err := f.findIndex(size, crc); err != nil {
		return nil, err
	}
	if f.head, err = decodeHead(text); err == nil {
		err = f.head.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: its head: %w", ErrCorrupt, err)
	}
	return f, f.readIndex(size)
}

// Head returns the head of the file.
func (f *Reader) Head() Head { return f.head }

// readHead returns the text of the head, and the checksum of all bytes before the first chunk.
func (f *Reader) readHead(size int64) (text []byte, crc uint32, err error) {
	var b [fixedHead]byte
	if size < int64(fixedHead+fixedIndex+trailer) {
		return nil, 0, fmt.Errorf("%w: %d bytes", ErrTorn, size)
	}
	if err := f.read(b[:], 0); err != nil {
		return nil, 0, err
	}
	if string(b[:len(magic)]) != magic {
		return nil, 0, ErrForeign
	}
	if err := checkFormat(int64(little.Uint32(b[len(magic):])), Format); err != nil {
		return nil, 0, err
	}
	n := int64(little.Uint32(b[len(magic)+4:]))
	f.first = int64(fixedHead) + n
	if n > HeadMax || f.first+int64(fixedIndex+trailer) > size {
		return nil, 0, fmt.Errorf("%w: a head of %d bytes in a file of %d", ErrTorn, n, size)
	}
	text = make([]byte, n)
	err = f.read(text, int64(fixedHead))
	return text, castagnoli(CRC(b[:]), text), err
}

// findIndex finds the index, and compares the checksum of the head in the index with crc. It reads
// no more of the index: only a decoded head shows whether the length of the index is right, and an
// index at a wrong offset could be as long as the file.
func (f *Reader) findIndex(size int64, crc uint32) error {
	var end [trailer]byte
	if err := f.read(end[:], size-int64(trailer)); err != nil {
		return err
	}
	if string(end[8:]) != magic {
		return fmt.Errorf("%w: no mark at its end", ErrTorn)
	}
	at := little.Uint64(end[:])
	if at < uint64(f.first) || at > uint64(size-int64(trailer+fixedIndex)) {
		return fmt.Errorf("%w: its index at %d", ErrCorrupt, at)
	}
	f.index = int64(at)
	var b [4]byte
	if err := f.read(b[:], f.index); err != nil {
		return err
	}
	if little.Uint32(b[:]) != crc {
		return fmt.Errorf("%w: its head", ErrCorrupt)
	}
	return nil
}

// readIndex reads and checks the index.
func (f *Reader) readIndex(size int64) error {
	n := size - int64(trailer) - f.index
	if (n-int64(fixedIndex))%entryLength != 0 || (n-int64(fixedIndex))/entryLength != f.head.chunks() {
		return fmt.Errorf("%w: an index of %d bytes for %d chunks", ErrCorrupt, n, f.head.chunks())
	}
	b := make([]byte, n)
	if err := f.read(b, f.index); err != nil {
		return err
	}
	if CRC(b[:n-4]) != little.Uint32(b[n-4:]) {
		return fmt.Errorf("%w: its index", ErrCorrupt)
	}
	return f.takeOffsets(b[4 : n-4])
}

// takeOffsets checks that the chunks follow each other, between head and index.
func (f *Reader) takeOffsets(b []byte) error {
	next := uint64(f.first)
	for ; len(b) > 0; b = b[entryLength:] {
		at := little.Uint64(b)
		if at < next || at > uint64(f.index)-chunkHead || len(f.offsets) == 0 && at != next {
			return fmt.Errorf("%w: chunk %d at %d", ErrCorrupt, len(f.offsets), at)
		}
		f.offsets = append(f.offsets, at)
		next = at + chunkHead
	}
	if len(f.offsets) == 0 && f.index != f.first {
		return fmt.Errorf("%w: %d bytes that belong to nothing", ErrCorrupt, f.index-f.first)
	}
	return nil
}

// read fills b from offset at.
func (f *Reader) read(b []byte, at int64) error {
	n, err := f.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends at %d", ErrTorn, at+int64(n))
	}
	return err
}

// ReadMember fills p with the data of a member, starting at byte off. Only the chunks that hold
// these data are read, and each of them is checked.
func (f *Reader) ReadMember(p []byte, member int, off int64) error {
	if member < 0 || member >= len(f.head.Members) || off < 0 || off > f.head.Members[member].Bytes-int64(len(p)) {
		return fmt.Errorf("ckptfile: %d bytes of member %d from %d on", len(p), member, off)
	}
	at := f.head.offset(member) + off
	for len(p) > 0 {
		i := at / int64(f.head.Chunk)
		if err := f.load(i); err != nil {
			return err
		}
		n := copy(p, f.data[at-i*int64(f.head.Chunk):])
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// load reads chunk i, unless it is the chunk that was read last.
func (f *Reader) load(i int64) error {
	if f.at == i {
		return nil
	}
	f.at = -1
	end := uint64(f.index)
	if i+1 < int64(len(f.offsets)) {
		end = f.offsets[i+1]
	}
	room := end - f.offsets[i]
	if room > chunkHead+ChunkMax {
		return fmt.Errorf("%w: %d bytes for chunk %d", ErrCorrupt, room, i)
	}
	f.buf = grow(f.buf, int(room))
	if err := f.read(f.buf, int64(f.offsets[i])); err != nil {
		return err
	}
	if err := f.decode(f.buf[:chunkHead], f.buf[chunkHead:], f.head.chunkBytes(i)); err != nil {
		return fmt.Errorf("%w: chunk %d: %w", ErrCorrupt, i, err)
	}
	f.at = i
	return nil
}

// decode checks a chunk and extracts its data.
func (f *Reader) decode(head, stored []byte, want int) error {
	n, size, codec := little.Uint32(head), little.Uint32(head[4:]), Codec(little.Uint32(head[8:]))
	switch {
	case uint64(n) != uint64(len(stored)) || uint64(size) != uint64(want):
		return fmt.Errorf("%d bytes stored in %d, %d of data instead of %d", n, len(stored), size, want)
	case castagnoli(CRC(head[:12]), stored) != little.Uint32(head[12:]):
		return errors.New("another checksum")
	case codec == None && n == size:
		f.data = append(f.data[:0], stored...)
		return nil
	case codec != Zstd:
		return fmt.Errorf("codec %d", codec)
	}
	data, err := decoder().DecodeAll(stored, grow(f.data, want)[:0])
	if err == nil && len(data) != want {
		err = fmt.Errorf("%d bytes of data instead of %d", len(data), want)
	}
	if err == nil {
		f.data = data
	}
	return err
}

// grow returns a slice of length n, in the memory of b if that is large enough.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// Verify reads and checks all chunks.
func (f *Reader) Verify() error {
	for i := range f.head.chunks() {
		if err := f.load(i); err != nil {
			return err
		}
	}
	return nil
}

// Open is NewReader of bytes in memory.
func Open(b []byte) (*Reader, error) { return NewReader(bytes.NewReader(b), int64(len(b))) }
