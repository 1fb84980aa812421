package rendezvous

import "github.com/goulfm/goulfm/internal/base/must"

// A stage is the progress of an end.
type stage uint8

const (
	unused    stage = iota // not an end of a long message, or over: the buffer is the program's
	queued                 // send: its announcement waits for room
	announced              // send: its announcement is out
	asked                  // send: its announcement is out, and was requested back
	pulled                 // send: a receive has matched it, and copies the payload from the sender's memory
	matched                // a receive has matched: the payload is sent in chunks
)

// A Send is the sender's end of one long message. Its owner embeds the Send in a request, begins it
// and passes it the answers of the receiver. The zero Send, and one that is over, is not in use.
type Send struct {
	stage  stage
	to     int    // process
	number uint64 // of the announcement, among those to the same process; 0: not counted
	remote uint64 // matched: the receive's handle
	limit  int    // matched: bytes to send
	moved  int    // of these, sent
}

// Begin makes s the end of a message to a process. The message is not yet announced.
func (s *Send) Begin(to int) { *s = Send{stage: queued, to: to} }

// Announced records that the announcement is out. number is from Peer.Count, or 0 for a message to
// the process itself.
func (s *Send) Announced(number uint64) {
	must.That(s.stage == queued, "announced in stage %d", s.stage)
	s.stage, s.number = announced, number
}

// IsUsed reports whether s is an end that is not over.
func (s *Send) IsUsed() bool { return s.stage != unused }

// IsQueued reports whether the announcement is not out yet.
func (s *Send) IsQueued() bool { return s.stage == queued }

// Waits reports whether the announcement is out and the receiver has not answered.
func (s *Send) Waits() bool { return s.stage == announced || s.stage == asked }

// HasMatched reports whether a receive is known to have matched, so that the message cannot be
// taken back.
func (s *Send) HasMatched() bool { return s.stage == pulled || s.stage == matched }

// A Return is the result of an attempt to take a message back.
type Return uint8

// Results of TakeBack.
const (
	TooLate Return = iota // the message has matched, or the send is over: no effect
	AtOnce                // the message was not announced: the owner ends the send
	Ask                   // the owner sends a Withdraw; the answer ends the send, or a grant continues it
	Asked                 // the owner has sent a Withdraw before
)

// TakeBack begins to take a message back.
func (s *Send) TakeBack() Return {
	switch s.stage {
	case queued:
		return AtOnce
	case announced:
		s.stage = asked
		return Ask
	case asked:
		return Asked
	}
	return TooLate
}

// Withdraw returns the frame that requests the message of a send back.
func (s *Send) Withdraw(handle uint64) Withdraw { return Withdraw{Send: handle, Number: s.number} }

// Pulled records that the receiver copies the payload from this process's memory.
func (s *Send) Pulled() {
	if s.Waits() {
		s.stage = pulled
	}
}

// Grant accepts a grant of a process for a payload of size bytes. If Grant returns true the owner
// sends the chunks, otherwise a Gone.
func (s *Send) Grant(from int, g Grant, size int) bool {
	if !s.Waits() && s.stage != pulled || from != s.to || g.Limit > uint64(size) {
		return false
	}
	s.stage, s.remote, s.limit, s.moved = matched, g.Recv, int(g.Limit), 0
	return true
}

// Chunk returns the handle of the receive, and the offset and the length of the next chunk, which
// has at most most bytes. If n is 0 no bytes are left: the send is over.
func (s *Send) Chunk(most int) (recv uint64, offset, n int) {
	must.That(s.stage == matched, "a chunk in stage %d", s.stage)
	return s.remote, s.moved, min(s.limit-s.moved, most)
}

// Pushed records that a chunk of n bytes is out.
func (s *Send) Pushed(n int) {
	must.That(s.stage == matched && n <= s.limit-s.moved, "%d bytes pushed in stage %d, %d of %d before", n, s.stage, s.moved, s.limit)
	s.moved += n
}

// Withdrawn reports whether the answer of a process that no receive has matched ends the send.
func (s *Send) Withdrawn(from int) bool { return s.stage == asked && from == s.to }

// Refused reports whether the answer of a process that its communicator is freed or revoked ends
// the send.
func (s *Send) Refused(from int) bool { return s.Waits() && from == s.to }

// End returns the buffer to the program, for any reason. True means that the receiver waits for
// chunks that will not follow: the owner sends the frame gone to the receiver.
func (s *Send) End() (gone Gone, tell bool) {
	must.That(s.stage != unused, "a send ends twice")
	tell = s.stage == matched && s.moved < s.limit
	s.stage = unused
	return Gone{Recv: s.remote}, tell
}
