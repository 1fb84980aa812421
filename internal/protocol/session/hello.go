package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// HelloSize is the length of an encoded Hello, in bytes.
const HelloSize = 64

// ErrHello is wrapped by every error of ParseHello.
var ErrHello = errors.New("malformed hello")

// A Status is the kind of a Hello: a question, or one of the answers.
type Status uint8

// The statuses.
const (
	Asks     Status = iota // no answer: the Hello of a dialer
	OK                     // the connection is open
	Dead                   // the dialer was declared dead
	Busy                   // the answerer is dialing itself, and its attempt wins
	Stranger               // the dialer's Hello is meant for another process than the answerer

	statuses // how many there are
)

// String returns the status in one word.
func (s Status) String() string {
	switch s {
	case Asks:
		return "asks"
	case OK:
		return "ok"
	case Dead:
		return "dead"
	case Busy:
		return "busy"
	case Stranger:
		return "stranger"
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// A Hello is the first frame that a dialer sends over a connection, and the answer to that frame.
// Encoded it has HelloSize bytes, numbers least significant byte first:
//
//	 0  job        u64
//	 8  from       u32   20  to        u32
//	12  from birth u64   24  to birth  u64
//	32  lane       u8    33  role      u8
//	34  attempt    u16   36  epoch     u32
//	40  received   u64
//	48  status     u8    49  zero
//	50  gave up    u16   52  zero
//	60  crc        u32   CRC-32C of bytes 0 to 59: a wrong count would lose bytes or double them
type Hello struct {
	Job      uint64
	From, To Identity
	Lane     uint8
	Role     uint8  // the role of From
	Attempt  uint16 // counts the dialer's dials; an answer repeats it
	Epoch    uint32 // of From; for the host, the session leaves it 0
	Received uint64 // number of bytes of To's stream that From has
	Status   Status
	GaveUp   uint16 // of an answer OK: the last of its own attempts that From has abandoned; 0: none
}

// Append appends the encoded h to dst.
func (h Hello) Append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, h.Job)
	dst = appendIdentity(dst, h.From)
	dst = appendIdentity(dst, h.To)
	dst = append(dst, h.Lane, h.Role)
	dst = le.AppendUint16(dst, h.Attempt)
	dst = le.AppendUint32(dst, h.Epoch)
	dst = le.AppendUint64(dst, h.Received)
	dst = append(dst, byte(h.Status), 0)
	dst = le.AppendUint16(dst, h.GaveUp)
	dst = append(dst, make([]byte, helloClear-52)...)
	return le.AppendUint32(dst, checksum(dst[len(dst)-helloClear:]))
}

// helloClear is the number of bytes under the checksum.
const helloClear = HelloSize - 4

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func appendIdentity(dst []byte, id Identity) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, id.Number)
	return binary.LittleEndian.AppendUint64(dst, id.Birth)
}

// ParseHello decodes b, which must be one whole Hello and nothing else.
func ParseHello(b []byte) (Hello, error) {
	if len(b) != HelloSize {
		return Hello{}, fmt.Errorf("%w: %d bytes instead of %d", ErrHello, len(b), HelloSize)
	}
	le := binary.LittleEndian
	if le.Uint32(b[helloClear:]) != checksum(b[:helloClear]) {
		return Hello{}, fmt.Errorf("%w: its checksum is wrong", ErrHello)
	}
	h := Hello{
		Job:      le.Uint64(b),
		From:     Identity{Number: le.Uint32(b[8:]), Birth: le.Uint64(b[12:])},
		To:       Identity{Number: le.Uint32(b[20:]), Birth: le.Uint64(b[24:])},
		Lane:     b[32],
		Role:     b[33],
		Attempt:  le.Uint16(b[34:]),
		Epoch:    le.Uint32(b[36:]),
		Received: le.Uint64(b[40:]),
		Status:   Status(b[48]),
		GaveUp:   le.Uint16(b[50:]),
	}
	if h.Status >= statuses {
		return Hello{}, fmt.Errorf("%w: %v", ErrHello, h.Status)
	}
	for i, zero := range b[:helloClear] {
		if (i == 49 || i >= 52) && zero != 0 {
			return Hello{}, fmt.Errorf("%w: byte %d is %d instead of 0", ErrHello, i, zero)
		}
	}
	return h, nil
}
