package tcp

import "encoding/binary"

// An outbox keeps the frames of a lane, in wire format, until the peer has acknowledged them.
// Positions count bytes from the beginning of the lane's stream:
//
//	tail <= acked <= written <= queued
//
// The ring holds all bytes from tail on. tail and boundary are beginnings of frames: of the frame
// with the byte acked, and of a frame that does not begin after written. between moves boundary to
// the last such frame. Uncounted frames may stand between two frames only.
type outbox struct {
	ring           []byte // its length is a power of two
	tail, boundary uint64
	written        uint64
	queued         uint64
}

// room returns the number of bytes that may be put.
func (o *outbox) room() int { return len(o.ring) - int(o.queued-o.tail) }

// put appends a frame: its header, its numbers if it has some, and its payload. There must be room.
func (o *outbox) put(h header, numbers [2]uint64, payload []byte) {
	var head [headerBytes + numbersBytes]byte
	h.put(head[:])
	if h.head() > headerBytes {
		putNumbers(head[headerBytes:], numbers[0], numbers[1])
	}
	o.append(head[:h.head()])
	o.append(payload)
}

func (o *outbox) append(b []byte) {
	at := int(o.queued) & (len(o.ring) - 1)
	n := copy(o.ring[at:], b)
	copy(o.ring, b[n:])
	o.queued += uint64(len(b))
}

// unwritten returns the next contiguous bytes to write; to bounds their position.
func (o *outbox) unwritten(to uint64) []byte {
	at := int(o.written) & (len(o.ring) - 1)
	return o.ring[at:min(len(o.ring), at+int(to-o.written))]
}

// frameEnd returns the end of the frame that begins at a position.
func (o *outbox) frameEnd(at uint64) uint64 {
	var b [4]byte
	for i := range b {
		b[i] = o.ring[int(at+uint64(i))&(len(o.ring)-1)]
	}
	return at + headerBytes + uint64(binary.LittleEndian.Uint32(b[:]))
}

// advance moves the beginning of a frame to the last beginning of a frame that is not above to.
func (o *outbox) advance(from, to uint64) uint64 {
	for from < to {
		end := o.frameEnd(from)
		if end > to {
			break
		}
		from = end
	}
	return from
}

// between reports whether the next byte to write begins a frame; if not, it returns the end of the
// current frame.
func (o *outbox) between() (begins bool, end uint64) {
	if o.boundary = o.advance(o.boundary, o.written); o.boundary == o.written {
		return true, o.written
	}
	return false, o.frameEnd(o.boundary)
}

// release drops the whole frames below the acknowledged byte.
func (o *outbox) release(acked uint64) {
	o.tail = o.advance(o.tail, acked)
	o.boundary = max(o.boundary, o.tail)
}

// resume continues on a new connection from a position, which is not below the acknowledged byte.
func (o *outbox) resume(from uint64) { o.written, o.boundary = from, o.tail }
