package rmaserver

import (
	"encoding/binary"
	"fmt"
)

// Op is the operation of a frame.
type Op uint8

// The operations. At, Count and Operand are fields of the Frame.
const (
	Put            Op = iota + 1 // Data from byte At on
	Get                          // Count bytes from At on
	Load                         // the number at At
	Swap                         // the number at At becomes Operand
	CompareAndSwap               // the number at At becomes Operand if it is Count
	Accumulate                   // the numbers from At on are combined with those in Data
	Notify                       // counter At is incremented
	Flush                        // no effect: the frame is answered
	Lock                         // acquire the lock, in mode Mode
	Unlock                       // release the lock
	Posted                       // the target of a Start: the sender has posted Count times for it
	Completed                    // the sender has completed Count epochs here
	Dead                         // the sender knows that member At is dead
	Withdraw                     // give up the wait for the lock, and return a lock that was granted meanwhile
	last
)

// String returns the name, such as "put".
func (o Op) String() string {
	if o < Put || o >= last {
		return fmt.Sprintf("operation %d", uint8(o))
	}
	return [...]string{Put: "put", Get: "get", Load: "load", Swap: "swap", CompareAndSwap: "compare_and_swap", Accumulate: "accumulate",
		Notify: "notify", Flush: "flush", Lock: "lock", Unlock: "unlock", Posted: "posted", Completed: "completed", Dead: "dead", Withdraw: "withdraw"}[o]
}

// A Frame is one operation. Its first eight bytes belong to the transport: the name under which
// an answer is sent, 0 for none.
//
//	0  reply u64 | 8 op u8 | 9 kernel u8 | 10 element u8 | 11 size u8 | 12 mode u8 | 13 zero [3]
//	16 at u64 | 24 count u64 | 32 operand u64 | 40 data
type Frame struct {
	Reply   uint64
	Op      Op
	Kernel  uint8 // of an Accumulate: the operation, as package kernel numbers them
	Elem    uint8 // of an Accumulate: the type of the numbers, as package kernel numbers them
	Size    uint8 // bytes of a number: 1, 2, 4 or 8
	Mode    uint8 // of a Lock, numbered by package robustlock
	At      uint64
	Count   uint64
	Operand uint64
	Data    []byte
}

// HeadBytes is the length of a Frame without its data.
const HeadBytes = 40

// Append appends the frame to b.
func (f *Frame) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, f.Reply)
	b = append(b, byte(f.Op), f.Kernel, f.Elem, f.Size, f.Mode, 0, 0, 0)
	b = le.AppendUint64(le.AppendUint64(le.AppendUint64(b, f.At), f.Count), f.Operand)
	return append(b, f.Data...)
}

// Read returns the frame in b, whose Data is a part of b. It returns an error for a frame that no
// origin sends.
func Read(b []byte) (f Frame, err error) {
	if len(b) < HeadBytes {
		return f, fmt.Errorf("frame of a window: %d bytes", len(b))
	}
	le := binary.LittleEndian
	f = Frame{Reply: le.Uint64(b), Op: Op(b[8]), Kernel: b[9], Elem: b[10], Size: b[11], Mode: b[12],
		At: le.Uint64(b[16:]), Count: le.Uint64(b[24:]), Operand: le.Uint64(b[32:]), Data: b[HeadBytes:]}
	switch {
	case f.Op < Put || f.Op >= last || b[13]|b[14]|b[15] != 0:
		return f, fmt.Errorf("frame of a window: %v", f.Op)
	case len(f.Data) > 0 && f.Op != Put && f.Op != Accumulate:
		return f, fmt.Errorf("frame of a window: %v with %d bytes of data", f.Op, len(f.Data))
	case f.hasNumber() && f.Size != 1 && f.Size != 2 && f.Size != 4 && f.Size != 8:
		return f, fmt.Errorf("frame of a window: %v of numbers of %d bytes", f.Op, f.Size)
	case f.hasNumber() && len(f.Data)%int(f.Size) != 0:
		return f, fmt.Errorf("frame of a window: %v of %d bytes, of numbers of %d", f.Op, len(f.Data), f.Size)
	case f.answers() && f.Reply == 0:
		return f, fmt.Errorf("frame of a window: %v that wants no answer", f.Op)
	}
	return f, nil
}

// hasNumber reports whether the operation is on numbers.
func (f *Frame) hasNumber() bool {
	return f.Op == Load || f.Op == Swap || f.Op == CompareAndSwap || f.Op == Accumulate
}

// answers reports whether the operation makes no sense without an answer.
func (f *Frame) answers() bool {
	return f.Op == Get || f.Op == Load || f.Op == CompareAndSwap || f.Op == Flush || f.Op == Lock
}
