// Package transport moves frames between the processes of a job. It holds the
// contract that every transport keeps (Link, proved by transporttest), and
// the one ring code (Port) that serves both homes of shared memory: inproc, on
// the Go heap, and shm, between processes.
//
// A transport knows nothing of communicators, matching or failures. It answers
// "no room" instead of queueing, and it never blocks. Who has departed and how a process sleeps
// are the node's affairs (package node).
package transport

import "github.com/goulfm/goulfm/internal/shm/node"

// Kind says what a data frame is.
type Kind uint8

// Kinds of data frames.
const (
	// Eager carries a whole message.
	Eager Kind = iota + 1
	// Announce carries the envelope of a message whose payload stays with the
	// sender until the receiver asks for it (rendezvous).
	Announce
	// Chunk carries a part of an announced message, straight into the receive
	// that matched it.
	Chunk
)

// Sizes in bytes.
const (
	// EagerMax is the largest payload of an Eager frame.
	EagerMax = 8 << 10
	// LongMax is the largest one to a process of which Port.TakesLong, and to one of another node;
	// there it is that of a Chunk frame, too: what one write takes whole costs one wake-up at the
	// receiver.
	LongMax = 64 << 10
	// ShortMax is up to what size a payload never goes where long ones do.
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
	Sync   bool   // Announce: the sender completes only when it is matched
	Size   int    // Eager, Announce: bytes of the message. Chunk: bytes of this part
	Handle uint64 // Announce: the sender's name for the message. Chunk: the receiver's
	Offset int    // Chunk: where the part belongs in the message

	Addr     uint64 // Announce: where the message lies in the sender's memory; 0: it must be asked for
	Transfer int    // Announce with Addr: the account in the sender's arena
}

// A Frame is a data frame as it arrives.
type Frame struct {
	Header
	Payload []byte // memory of the ring, valid until Advance
}

// Link moves frames between one process and its peers. Its methods but Pending and the word of
// Watch are called by one goroutine at a time.
type Link interface {
	// TrySend publishes one data frame and says whether there was room. Payload
	// has h.Size bytes for Eager and Chunk, none for Announce. To a process of another
	// node the frame may wait for the caller's next Peek or Take to be written with
	// others, if it has sent one since the last; then Pending says true until that.
	TrySend(to int, h *Header, payload []byte) bool
	// Peek returns the next data frame from a process, without taking it.
	Peek(from int) (Frame, bool)
	// Advance takes the frame that Peek returned.
	Advance(from int)

	// TryControl sends frame[sent:] as far as there is room and returns how much
	// of frame is sent by now. A frame is begun only when the one before it to the
	// same process is sent whole.
	TryControl(to int, frame []byte, sent int) int
	// NextControl returns the next whole control frame from a process; it is
	// valid until the next call.
	NextControl(from int) ([]byte, bool)

	// Take returns, appended to dst, the processes that may have sent something
	// of a class since the last Take.
	Take(c Class, dst []int) []int
	// Pending says, cheaply and from any goroutine, whether Take might return
	// something. What comes from process except on the data rings does not count;
	// -1 excepts nobody.
	Pending(except int) bool
	// Watch returns a word and the value that it has once the next data frame
	// from a process is there. The word may be read from any goroutine with an
	// atomic load; a nil word: there is nothing to watch yet.
	Watch(from int) (word *uint64, want uint64)

	// WantRoom says that the caller waits for room towards a process, or no
	// longer does. It wakes the peer, which wakes the caller when there is room.
	WantRoom(to int, want bool)
	// Sweep tells a process that waits for room what has been consumed. There Take
	// returns this process then: a sender that looked for room just before and is
	// about to sleep finds it Pending.
	Sweep(from int)
	// CreditReturned is how many payload bytes the peer has let go so far.
	CreditReturned(to int) uint64
	// ReturnCredit tells a peer how many of its payload bytes were let go so far.
	ReturnCredit(from int, total uint64)

	// CloseControl drops every control frame from a process, now and later, and
	// makes sending to it a no-op that succeeds.
	CloseControl(proc int)
	// CloseData does so for data frames; what it publishes later is dropped.
	CloseData(proc int)
	// CloseAll is CloseControl and CloseData of all processes, also of those that are met later.
	CloseAll()
	// Broken returns the reason why a process's memory is no longer read.
	Broken(proc int) error
}

// Class of frames: control never sits behind data.
type Class int

// Classes.
const (
	Data Class = iota
	Control
)

// An End is what a process is given to live on: the node on which it runs, and the link to its
// peers.
type End struct {
	Node *node.Node
	Link Link
}
