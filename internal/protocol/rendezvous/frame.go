package rendezvous

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The control frames of long messages begin with one of these bytes. Announcements and chunks are
// data frames, for which transports have their own forms.
const (
	KindGrant     byte = 0x80
	KindWithdraw  byte = 0x81
	KindWithdrawn byte = 0x82
	KindRefuse    byte = 0x83
	KindGone      byte = 0x84
)

// ErrMalformed is the error of a frame that contradicts its first byte.
var ErrMalformed = errors.New("malformed frame of a long message")

// Grant reports that a receive has matched: the sender sends Limit bytes in chunks.
type Grant struct {
	Send  uint64 // handle of the announced send
	Recv  uint64 // handle that the chunks will name
	Limit uint64 // bytes
}

// Withdraw requests an announced message back.
type Withdraw struct {
	Send   uint64 // handle of the announced send
	Number uint64 // of the announcement, among those from this process to the receiver, from 1
}

// Withdrawn reports that no receive had matched a message that was requested back: the receiver has
// forgotten the message.
type Withdrawn struct {
	Send uint64 // handle of the send
}

// Refuse reports that a message was announced to a freed or revoked communicator.
type Refuse struct {
	Send uint64 // handle of the send
	Why  uint64 // for the owners
}

// Gone reports that the send which a grant names is over: no more chunks follow.
type Gone struct {
	Recv uint64 // handle of the receive
}

// Append appends the frame to b.
func (g Grant) Append(b []byte) []byte { return appendFrame(b, KindGrant, g.Send, g.Recv, g.Limit) }

// Append appends the frame to b.
func (w Withdraw) Append(b []byte) []byte { return appendFrame(b, KindWithdraw, w.Send, w.Number) }

// Append appends the frame to b.
func (w Withdrawn) Append(b []byte) []byte { return appendFrame(b, KindWithdrawn, w.Send) }

// Append appends the frame to b.
func (r Refuse) Append(b []byte) []byte { return appendFrame(b, KindRefuse, r.Send, r.Why) }

// Append appends the frame to b.
func (g Gone) Append(b []byte) []byte { return appendFrame(b, KindGone, g.Recv) }

// ReadGrant reads a whole frame of its kind.
func ReadGrant(frame []byte) (Grant, error) {
	w, err := readFrame(frame, KindGrant, 3)
	return Grant{Send: w[0], Recv: w[1], Limit: w[2]}, err
}

// ReadWithdraw reads a whole frame of its kind.
func ReadWithdraw(frame []byte) (Withdraw, error) {
	w, err := readFrame(frame, KindWithdraw, 2)
	return Withdraw{Send: w[0], Number: w[1]}, err
}

// ReadWithdrawn reads a whole frame of its kind.
func ReadWithdrawn(frame []byte) (Withdrawn, error) {
	w, err := readFrame(frame, KindWithdrawn, 1)
	return Withdrawn{Send: w[0]}, err
}

// ReadRefuse reads a whole frame of its kind.
func ReadRefuse(frame []byte) (Refuse, error) {
	w, err := readFrame(frame, KindRefuse, 2)
	return Refuse{Send: w[0], Why: w[1]}, err
}

// ReadGone reads a whole frame of its kind.
func ReadGone(frame []byte) (Gone, error) {
	w, err := readFrame(frame, KindGone, 1)
	return Gone{Recv: w[0]}, err
}

// frameMax is the length of the longest frame.
const frameMax = 1 + 3*binary.MaxVarintLen64

func appendFrame(b []byte, kind byte, words ...uint64) []byte {
	b = append(slices.Grow(b, frameMax), kind)
	for _, w := range words {
		b = binary.AppendUvarint(b, w)
	}
	return b
}

// readFrame returns the n words of a frame. The frame must end behind them.
func readFrame(frame []byte, kind byte, n int) (words [3]uint64, err error) {
	if len(frame) == 0 || frame[0] != kind {
		return words, fmt.Errorf("%w: no frame of kind %#x", ErrMalformed, kind)
	}
	rest := frame[1:]
	for i := range n {
		v, used := binary.Uvarint(rest)
		if used <= 0 {
			return [3]uint64{}, fmt.Errorf("%w: kind %#x with %d words", ErrMalformed, kind, i)
		}
		words[i], rest = v, rest[used:]
	}
	if len(rest) > 0 {
		return [3]uint64{}, fmt.Errorf("%w: kind %#x with %d bytes too many", ErrMalformed, kind, len(rest))
	}
	return words, nil
}
