package tcp

import "encoding/binary"

// An outbox keeps the frames of a lane, as they go over the wire, until the peer has taken them.
// Places count bytes of the lane's stream from its beginning:
//
//	tail <= acked <= written <= queued
//
// All from tail on is in the ring. Tail and boundary are where frames begin: that of the byte
// acked, and the last one not behind written. Between two frames, and only there, may stand what
// is not counted.
type outbox struct {
	ring           []byte // its length is a power of two
	tail, boundary uint64
	written        uint64
	queued         uint64
}

// room returns how many bytes may be put.
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

// unwritten returns bytes to write next, as far as they are in one piece; to bounds their place.
func (o *outbox) unwritten(to uint64) []byte {
	at := int(o.written) & (len(o.ring) - 1)
	return o.ring[at:min(len(o.ring), at+int(to-o.written))]
}

// frameEnd returns where the frame ends that begins at a place.
func (o *outbox) frameEnd(at uint64) uint64 {
	var b [4]byte
	for i := range b {
		b[i] = o.ring[int(at+uint64(i))&(len(o.ring)-1)]
	}
	return at + headerBytes + uint64(binary.LittleEndian.Uint32(b[:]))
}

// advance moves a place where a frame begins to the last such place that is not behind to.
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

// between says whether the next byte to write begins a frame, and if not where the one under way
// ends.
func (o *outbox) between() (begins bool, end uint64) {
	if o.boundary = o.advance(o.boundary, o.written); o.boundary == o.written {
		return true, o.written
	}
	return false, o.frameEnd(o.boundary)
}

// release forgets what is below the acknowledged byte, whole frames at a time.
func (o *outbox) release(acked uint64) {
	o.tail = o.advance(o.tail, acked)
	o.boundary = max(o.boundary, o.tail)
}

// resume has a new connection go on from a place: not below what was acknowledged.
func (o *outbox) resume(from uint64) { o.written, o.boundary = from, o.tail }
