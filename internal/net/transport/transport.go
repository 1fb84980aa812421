// Package transport moves frames between the processes of a job. It holds the contract of every
// transport (Link, which transporttest checks). It also holds the ring code (Port) for both kinds
// of shared memory: inproc, on the Go heap, and shm, between processes.
//
// A transport knows nothing of communicators, matching or failures. It reports "no room" instead of
// queueing, and it never blocks. The node (package node) keeps the list of departed processes, and
// puts processes to sleep.
package transport

import "github.com/goulfm/goulfm/internal/shm/node"

// A Kind is the type of a data frame.
type Kind uint8

// Kinds of data frames.
const (
	// Eager carries a whole message.
	Eager Kind = iota + 1
	// Announce carries the envelope of a message whose payload stays with the sender until the
	// receiver requests it (rendezvous).
	Announce
	// Chunk carries a part of an announced message, directly into the matched receive.
	Chunk
)

// Sizes in bytes.
const (
	// EagerMax is the largest payload of an Eager frame.
	EagerMax = 8 << 10
	// LongMax is the largest payload of an Eager frame to a process for which Port.TakesLong is
	// true, or to a process of another node. To another node it also bounds a Chunk frame: the
	// bytes of a single write cost the receiver a single wake-up.
	LongMax = 64 << 10
	// ShortMax is the size up to which a payload never uses the ring for long payloads.
	ShortMax = 512
	// ChunkMax is the largest payload of a Chunk frame in a ring.
	ChunkMax = 8 << 10
	// SizeMax is the largest message: the header has 40 bits for it.
	SizeMax = 1<<40 - 1
	// ControlMax is the largest control frame.
	ControlMax = 1 << 20
)

// A Header is the envelope of a data frame.
type Header struct {
	Ctx    uint32 // the receiver's context
	Tag    int32
	Kind   Kind
	Elem   uint8  // element code, opaque here
	Sync   bool   // Announce: the sender completes only when the message is matched
	Size   int    // Eager, Announce: bytes of the message. Chunk: bytes of this part
	Handle uint64 // Announce: the sender's name for the message. Chunk: the receiver's
	Offset int    // Chunk: the position of the part in the message

	Addr     uint64 // Announce: address of the message in the sender's memory; 0: the receiver must request the payload
	Transfer int    // Announce with Addr: the account in the sender's arena
}

// A Frame is a received data frame.
type Frame struct {
	Header
	Payload []byte // memory of the ring, valid until Advance
}

// Link moves frames between one process and its peers. One goroutine at a time may call its
// methods. Any goroutine may call Pending and load the word of Watch.
type Link interface {
	// TrySend publishes one data frame and reports whether there was room. Payload has h.Size bytes
	// for Eager and Chunk, none for Announce. The first frame to a process of another node after a
	// Peek or Take is written at once. Later ones may wait for the caller's next Peek or Take,
	// which writes them together. Until then Pending is true.
	TrySend(to int, h *Header, payload []byte) bool
	// Peek returns the next data frame from a process, without taking the frame.
	Peek(from int) (Frame, bool)
	// Advance takes the frame that Peek returned.
	Advance(from int)

	// TryControl sends frame[sent:] as far as there is room and returns the number of bytes of
	// frame sent so far. The caller must complete a frame before it begins the next one to the same
	// process.
	TryControl(to int, frame []byte, sent int) int
	// NextControl returns the next whole control frame from a process. The frame is valid until the
	// next call.
	NextControl(from int) ([]byte, bool)

	// Take appends to dst the processes that may have sent frames of a class since the last Take,
	// and returns the result.
	Take(c Class, dst []int) []int
	// Pending reports, cheaply and from any goroutine, whether Take might return a process. Frames
	// from process except on the data rings do not count; -1 excepts no process.
	Pending(except int) bool
	// Watch returns a word and the value of that word once the next data frame from a process is
	// there. Any goroutine may read the word with an atomic load. A nil word: there is nothing to
	// watch yet.
	Watch(from int) (word *uint64, want uint64)

	// WantRoom announces that the caller waits for room towards a process, or no longer waits. It
	// wakes the peer, which wakes the caller when there is room.
	WantRoom(to int, want bool)
	// Sweep publishes the consumed amount to a process that waits for room. The next Take of that
	// process then names this one. A sender that checked for room just before, and is about to
	// sleep, sees that through Pending.
	Sweep(from int)
	// CreditReturned returns the number of payload bytes that the peer has released so far.
	CreditReturned(to int) uint64
	// ReturnCredit reports to a peer the number of its payload bytes that were released so far.
	ReturnCredit(from int, total uint64)

	// CloseControl drops every control frame from a process, now and later. Sending to the process
	// then succeeds without effect.
	CloseControl(proc int)
	// CloseData does so for data frames, and drops those that the process publishes later.
	CloseData(proc int)
	// CloseAll is CloseControl and CloseData for all processes, including those met later.
	CloseAll()
	// Broken returns the reason why this process no longer reads a peer's memory, or nil.
	Broken(proc int) error
}

// A Class of frames. Data never delays control.
type Class int

// Classes.
const (
	Data Class = iota
	Control
)

// An End is a process's connection to the others: its node, and the link to its peers.
type End struct {
	Node *node.Node
	Link Link
}
