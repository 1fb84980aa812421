package ckptfile

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Codec is the way in which chunks are stored.
type Codec uint32

// The codecs. Auto is for the writer only.
const (
	None Codec = 0
	Zstd Codec = 1
	Auto Codec = math.MaxUint32 // zstd as long as the last probe was worthwhile
)

// probeEvery is the number of chunks from one probe of compression to the next. For data that
// cannot be compressed (most floating-point numbers) the probes take hardly any time.
const probeEvery = 64

// worthwhile reports whether the reduction from size to stored bytes is worth the time.
func worthwhile(stored, size int) bool { return stored < size-size/8 }

// encoder and decoder allocate all their buffers themselves; goroutines may share both.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // only invalid options cause it
		}
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(ChunkMax))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// Writer writes the file of a rank. The caller writes the data one member after the other, in
// pieces of any length.
type Writer struct {
	w     io.Writer
	head  Head
	codec Codec
	small bool // Auto: the last probe was worthwhile

	chunk   []byte // data of the chunk that is being filled
	buf     []byte // the compressed chunk
	offsets []byte // the index so far
	left    int64  // bytes of data to come
	done    int64  // chunks written
	size    int64  // bytes written
	crc     uint32 // of them
	headCRC uint32
	err     error // the first error: all later calls return it
}

// NewWriter writes the head of a file. A head without Chunk gets ChunkBytes.
func NewWriter(w io.Writer, head Head, codec Codec) (*Writer, error) {
	if head.Chunk == 0 {
		head.Chunk = ChunkBytes
	}
	if err := head.check(); err != nil {
		return nil, fmt.Errorf("ckptfile: %w", err)
	}
	text, err := json.Marshal(head)
	if err != nil || len(text) > HeadMax {
		return nil, fmt.Errorf("ckptfile: a head of %d bytes: %w", len(text), err)
	}
	f := &Writer{w: w, head: head, codec: codec, left: head.Bytes()}
	f.chunk = make([]byte, 0, min(int64(head.Chunk), f.left))
	b := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	little.PutUint32(b[len(magic):], Format)
	little.PutUint32(b[len(magic)+4:], uint32(len(text)))
	b = append(b, text...)
	f.headCRC = CRC(b)
	f.put(b)
	return f, f.err
}

// Write appends bytes to the data.
func (f *Writer) Write(p []byte) (int, error) {
	if f.err == nil && int64(len(p)) > f.left {
		f.err = fmt.Errorf("ckptfile: %d bytes more than the head says", int64(len(p))-f.left)
	}
	taken := 0
	for len(p) > 0 && f.err == nil {
		n := min(f.head.Chunk-len(f.chunk), len(p))
		if n == f.head.Chunk {
			f.store(p[:n]) // a whole chunk is not copied
		} else {
			f.fill(p[:n])
		}
		p, taken, f.left = p[n:], taken+n, f.left-int64(n)
	}
	return taken, f.err
}

// fill appends to a chunk, and stores the chunk when it is full.
func (f *Writer) fill(p []byte) {
	f.chunk = append(f.chunk, p...)
	if len(f.chunk) == f.head.Chunk {
		f.store(f.chunk)
		f.chunk = f.chunk[:0]
	}
}

// store writes a chunk.
func (f *Writer) store(chunk []byte) {
	data, codec := chunk, None
	if f.codec == Zstd || f.codec == Auto && (f.small || f.done%probeEvery == 0) {
		f.buf = encoder().EncodeAll(chunk, f.buf[:0])
		if f.done%probeEvery == 0 {
			f.small = worthwhile(len(f.buf), len(chunk))
		}
		if len(f.buf) < len(chunk) {
			data, codec = f.buf, Zstd
		}
	}
	f.offsets = little.AppendUint64(f.offsets, uint64(f.size))
	var head [chunkHead]byte
	little.PutUint32(head[0:], uint32(len(data)))
	little.PutUint32(head[4:], uint32(len(chunk)))
	little.PutUint32(head[8:], uint32(codec))
	little.PutUint32(head[12:], castagnoli(CRC(head[:12]), data))
	f.put(head[:])
	f.put(data)
	f.done++
}

func (f *Writer) put(b []byte) {
	if f.err != nil {
		return
	}
	n, err := f.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	f.err = err
	f.size += int64(n)
	f.crc = castagnoli(f.crc, b)
}

// Close writes the end of the file, and returns the length and the checksum of the file, which the
// manifest names. It does not close the underlying writer.
func (f *Writer) Close() (size int64, crc uint32, err error) {
	if f.err == nil && f.left > 0 {
		f.err = fmt.Errorf("ckptfile: %d bytes less than the head says", f.left)
	}
	if f.err == nil && len(f.chunk) > 0 {
		f.store(f.chunk)
	}
	index := little.AppendUint32(nil, f.headCRC)
	index = append(index, f.offsets...)
	index = little.AppendUint32(index, CRC(index))
	index = little.AppendUint64(index, uint64(f.size))
	f.put(append(index, magic...))
	return f.size, f.crc, f.err
}
