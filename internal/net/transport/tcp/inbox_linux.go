package tcp

import (
	"encoding/binary"
	"errors"

	"github.com/goulfm/goulfm/internal/protocol/session"
	"golang.org/x/sys/unix"
)

// An inbox holds the bytes of a lane that have arrived and were not taken.
//
//	lo ......... scanned ......... hi
//	   frames, the last            less than a header
//	   perhaps incomplete          with its numbers
//
// The session has counted the bytes of counted frames before scanned; after a reconnect the peer
// continues from there. The bytes of a counted frame are scanned as they arrive, once its header
// and numbers are complete and valid. Bytes behind scanned are lost with the connection, and the
// peer sends those of counted frames again.
type inbox struct {
	buf             []byte
	lo, scanned, hi int
	left            int  // bytes of the current frame that have not arrived yet
	taken           int  // taken bytes that were not reported to the session yet
	dry             bool // the last read returned less than requested: the next one is skipped
}

const inboxBytes = 4 * frameMax

// fill reads once, and reports whether bytes have arrived. It returns false without a read if there
// is no connection, or if the last read left nothing in the socket (dry).
func (l *lane) fill() bool {
	in := &l.in
	if !l.line.open() || in.dry {
		in.dry = false
		return false
	}
	in.makeRoom()
	n, err := l.line.read(in.buf[in.hi:])
	switch {
	case errors.Is(err, unix.EAGAIN):
		return false
	case err != nil || n == 0:
		l.broke()
		return false
	}
	in.dry = n < len(in.buf)-in.hi && l.line.secure == nil // a secure line returns one record at a time
	in.hi += n
	l.scan()
	return true
}

// makeRoom makes room for a whole frame.
func (in *inbox) makeRoom() {
	switch {
	case in.buf == nil:
		in.buf = make([]byte, inboxBytes)
	case in.lo == in.hi:
		in.lo, in.scanned, in.hi = 0, 0, 0
	case len(in.buf)-in.lo < frameMax || len(in.buf) == in.hi:
		in.hi = copy(in.buf, in.buf[in.lo:in.hi])
		in.scanned -= in.lo
		in.lo = 0
	}
}

// cut drops the bytes that are lost with a connection.
func (in *inbox) cut() { in.hi, in.dry = in.scanned, false }

// scan reports arrived bytes to the session, and handles frames that are not counted.
func (l *lane) scan() {
	in, arrived := &l.in, 0
	tell := func() {
		if arrived > 0 {
			l.step(session.Arrived{Conn: l.conn, Bytes: arrived})
			arrived = 0
		}
	}
	for l.line.open() {
		if n := min(in.left, in.hi-in.scanned); n > 0 {
			in.left, in.scanned, arrived = in.left-n, in.scanned+n, arrived+n
		}
		if in.left > 0 || in.hi-in.scanned < headerBytes {
			break
		}
		h, err := parseHeader(in.buf[in.scanned:in.hi])
		if err == nil && h.head() > headerBytes {
			if in.hi-in.scanned < h.head() {
				break
			}
			err = checkNumbers(in.buf[in.scanned+headerBytes:])
		}
		switch {
		case err != nil:
			tell()
			l.bad(err)
			return
		case h.counted():
			in.left = h.size()
		default:
			tell()
			body := in.buf[in.scanned+headerBytes:]
			in.scanned += h.size()
			l.hear(h, body)
		}
	}
	tell()
}

// hear handles a frame that is not counted.
func (l *lane) hear(h header, body []byte) {
	switch h.kind {
	case kindAck:
		l.creditReturned = max(l.creditReturned, binary.LittleEndian.Uint64(body[8:]))
		if h.flags&flagAckNow != 0 {
			l.asked = true
			l.askedTo, _ = l.s.Incoming()
		}
		l.step(session.Acked{Conn: l.conn, Taken: binary.LittleEndian.Uint64(body)})
	case kindBye:
		l.step(session.Bye{Conn: l.conn})
		l.ask() // the answer waits until the peer has taken everything
	case kindByeAck:
		l.step(session.ByeAck{Conn: l.conn})
	}
}

// next returns the next counted frame, if all of its bytes have arrived.
func (l *lane) next() (h header, frame []byte, ok bool) {
	for in := &l.in; in.scanned-in.lo >= headerBytes; {
		h, err := parseHeader(in.buf[in.lo:])
		if err != nil { // cannot happen: scan has checked the header
			return h, nil, false
		}
		if h.counted() {
			if in.scanned-in.lo < h.size() {
				return h, nil, false
			}
			return h, in.buf[in.lo : in.lo+h.size()], true
		}
		in.lo += h.size()
	}
	return h, nil, false
}

// take takes the frame that next returned.
func (l *lane) take(size int) {
	l.in.lo += size
	l.in.taken += size
	if l.in.taken >= l.window/8 {
		l.tellTaken()
	}
}

// tellTaken reports taken bytes to the session, which may acknowledge them.
func (l *lane) tellTaken() {
	n := l.in.taken
	l.in.taken = 0
	l.step(session.Taken{Bytes: n})
}
