// Package departure has the rules for a process of another world that leaves without an agreement
// with this world. The leaving process may have completed a collective that is still open here and
// does not need the leaving process any more:
//
//	process of world 2           a slower process of world 1
//	completes collective 7
//	Finalize, ends
//	                             reads the departure
//	                             completes collective 7 with the frames of the other
//
// Before it leaves, such a process therefore sends each member of another world the number of its
// last collective on each communicator that they share. Collectives up to that number continue
// without the process, and fail only where they need a frame that was never sent; later
// collectives fail as after a death.
package departure

import (
	"encoding/binary"
	"errors"
)

// Kind is the first byte of a Last as a frame.
const Kind = 0x90

// A Last is the number of a process's last collective on a communicator.
type Last struct {
	Index  uint32 // of the communicator, at the receiver
	Number uint32
}

var errFrame = errors.New("malformed frame of a last collective")

// Frame returns l as a frame.
func (l Last) Frame() []byte {
	return binary.AppendUvarint(binary.AppendUvarint([]byte{Kind}, uint64(l.Index)), uint64(l.Number))
}

// Read is the inverse of Frame.
func Read(frame []byte) (l Last, err error) {
	if len(frame) == 0 || frame[0] != Kind {
		return l, errFrame
	}
	index, n := binary.Uvarint(frame[1:])
	if n <= 0 || index != uint64(uint32(index)) {
		return l, errFrame
	}
	number, m := binary.Uvarint(frame[1+n:])
	if m <= 0 || number != uint64(uint32(number)) || 1+n+m != len(frame) {
		return l, errFrame
	}
	return Last{Index: uint32(index), Number: uint32(number)}, nil
}

// Early keeps notices for communicators that do not exist here yet:
//
//	process of world 2           a late process of world 1
//	is spawned                   has contributed to the Spawn
//	completes collective 1
//	Finalize, ends
//	                             reads the notice, and the departure
//	                             reads the decision that makes the communicator
type Early struct {
	lasts map[uint32]map[int]uint32
}

// Keep keeps a notice for a communicator that may be made.
func (e *Early) Keep(from int, l Last) {
	if e.lasts == nil {
		e.lasts = map[uint32]map[int]uint32{}
	}
	if e.lasts[l.Index] == nil {
		e.lasts[l.Index] = map[int]uint32{}
	}
	e.lasts[l.Index][from] = l.Number
}

// Take returns the Tally of a communicator that has been made.
func (e *Early) Take(index uint32) Tally {
	lasts := e.lasts[index]
	delete(e.lasts, index)
	return Tally{lasts: lasts}
}

// A Tally counts the dead and departed members of a communicator.
type Tally struct {
	deaths int // died or departed
	// of the deaths: left after Finalize, with a notice of the last collective
	parted    int
	lastOfAll uint32         // collective in which all parted members took part
	lasts     map[int]uint32 // by process of another world: the number in its notice
}

// Hear notes the last collective of a process that is about to leave.
func (t *Tally) Hear(from int, number uint32) {
	if t.lasts == nil {
		t.lasts = map[int]uint32{}
	}
	t.lasts[from] = number
}

// Part counts a member. Collectives in which a member took part continue if the member left after
// Finalize.
func (t *Tally) Part(proc int, left bool) {
	t.deaths++
	number, told := t.lasts[proc]
	if !told || !left {
		return
	}
	if t.parted == 0 || int32(t.lastOfAll-number) > 0 {
		t.lastOfAll = number
	}
	t.parted++
}

// IsWhole reports whether no member is dead or has departed.
func (t *Tally) IsWhole() bool { return t.deaths == 0 }

// HasParted reports whether a member has left after Finalize with a notice.
func (t *Tally) HasParted() bool { return t.parted > 0 }

// LastOfAll returns the number of the last collective in which all members took part that left
// after Finalize. The number has a meaning only if HasParted.
func (t *Tally) LastOfAll() uint32 { return t.lastOfAll }

// GoesOn reports whether all departed members have left after Finalize and took part in the
// collective with that number.
func (t *Tally) GoesOn(number uint32) bool {
	return t.parted > 0 && t.parted == t.deaths && int32(t.lastOfAll-number) >= 0
}
