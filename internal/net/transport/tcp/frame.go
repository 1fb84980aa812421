package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/goulfm/goulfm/internal/net/transport"
)

// Kinds of frames besides those of package transport: 1 eager, 2 announce, 3 chunk.
const (
	kindControl = 4
	kindAck     = 5 // from here on: not counted
	kindBye     = 6
	kindByeAck  = 7
)

// Flags of a frame.
const (
	flagSync   = 1 // Header.Sync
	flagAckNow = 2 // of an ack: its sender requests an acknowledgement of everything that it has sent before
)

const (
	headerBytes  = 20
	numbersBytes = 20                                             // of a frame with numbers: two, and their checksum
	partMax      = 16 << 10                                       // payload of a part of a control frame
	frameMax     = headerBytes + numbersBytes + transport.LongMax // any frame
)

// A header is the header of a frame on the wire.
type header struct {
	body        int
	kind        uint8
	elem, flags uint8
	ctx         uint32
	tag         int32
}

func (h header) size() int     { return headerBytes + h.body }
func (h header) counted() bool { return h.kind < kindAck }

// head returns the number of bytes of a frame's header and numbers.
func (h header) head() int {
	switch h.kind {
	case uint8(transport.Announce), uint8(transport.Chunk), kindAck:
		return headerBytes + numbersBytes
	}
	return headerBytes
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errHeader = errors.New("malformed frame")
	bodyMax   = [...]int{transport.Eager: transport.LongMax, transport.Announce: numbersBytes, transport.Chunk: numbersBytes + transport.LongMax,
		kindControl: partMax, kindAck: numbersBytes, kindBye: 0, kindByeAck: 0}
	bodyMin = [...]int{transport.Announce: numbersBytes, transport.Chunk: numbersBytes, kindControl: 1, kindAck: numbersBytes, kindByeAck: 0}
)

// put encodes h into b, which has at least headerBytes.
func (h header) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b, uint32(h.body))
	b[4], b[5], b[6], b[7] = h.kind, h.elem, h.flags, 0
	le.PutUint32(b[8:], h.ctx)
	le.PutUint32(b[12:], uint32(h.tag))
	le.PutUint32(b[16:], crc32.Checksum(b[:16], castagnoli))
}

// putNumbers encodes the numbers of a frame into b, which has numbersBytes.
func putNumbers(b []byte, first, second uint64) {
	le := binary.LittleEndian
	le.PutUint64(b, first)
	le.PutUint64(b[8:], second)
	le.PutUint32(b[16:], crc32.Checksum(b[:16], castagnoli))
}

// checkNumbers returns nil if the numbers at the beginning of a body are intact, otherwise an
// error.
func checkNumbers(b []byte) error {
	if binary.LittleEndian.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli) {
		return fmt.Errorf("%w: the checksum of its numbers is wrong", errHeader)
	}
	return nil
}

// parseHeader decodes and checks the first headerBytes of b.
func parseHeader(b []byte) (header, error) {
	le := binary.LittleEndian
	h := header{body: int(le.Uint32(b)), kind: b[4], elem: b[5], flags: b[6], ctx: le.Uint32(b[8:]), tag: int32(le.Uint32(b[12:]))}
	switch {
	case le.Uint32(b[16:]) != crc32.Checksum(b[:16], castagnoli):
		return h, fmt.Errorf("%w: its checksum is wrong", errHeader)
	case h.kind == 0 || int(h.kind) >= len(bodyMax) || b[7] != 0:
		return h, fmt.Errorf("%w: kind %d", errHeader, h.kind)
	case h.body > bodyMax[h.kind] || h.body < bodyMin[h.kind]:
		return h, fmt.Errorf("%w: kind %d with %d bytes", errHeader, h.kind, h.body)
	case h.kind == kindControl && (h.ctx == 0 || h.ctx > transport.ControlMax):
		return h, fmt.Errorf("%w: control of %d bytes", errHeader, h.ctx)
	}
	return h, nil
}

// dataFrame decodes a whole frame of a data lane with header h; b has h.size() bytes.
func dataFrame(h header, b []byte) (f transport.Frame, err error) {
	le, body := binary.LittleEndian, b[headerBytes:]
	f.Header = transport.Header{Ctx: h.ctx, Tag: h.tag, Kind: transport.Kind(h.kind), Elem: h.elem, Sync: h.flags&flagSync != 0}
	switch f.Kind {
	case transport.Eager:
		f.Size, f.Payload = len(body), body
	case transport.Announce:
		size := le.Uint64(body)
		if size > transport.SizeMax {
			return f, fmt.Errorf("%w: a message of %d bytes", errHeader, size)
		}
		f.Size, f.Handle = int(size), le.Uint64(body[8:])
	case transport.Chunk:
		offset := le.Uint64(body[8:])
		f.Handle, f.Size, f.Payload = le.Uint64(body), len(body)-numbersBytes, body[numbersBytes:]
		if offset > uint64(transport.SizeMax-f.Size) {
			return f, fmt.Errorf("%w: %d bytes at offset %d", errHeader, f.Size, offset)
		}
		f.Offset = int(offset)
	default:
		return f, fmt.Errorf("%w: kind %d on a data lane", errHeader, h.kind)
	}
	return f, nil
}
