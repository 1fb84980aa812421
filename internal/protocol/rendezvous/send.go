package rendezvous

import "github.com/goulfm/goulfm/internal/base/must"

// A stage is how far an end has come.
type stage uint8

const (
	unused    stage = iota // not an end of a long message, or over: the buffer is the program's
	queued                 // send: its announcement waits for room
	announced              // send: its announcement is out
	asked                  // send: its announcement is out, and was asked back
	pulled                 // send: a receive has matched it, and copies it from the sender's memory
	matched                // a receive has matched: the payload goes in chunks
)

// A Send is the sender's end of one long message. Its owner embeds it in a request, begins it
// and hands it the answers of the receiver. The zero Send is none, and so is one that is over.
type Send struct {
	stage  stage
	to     int    // process
	number uint64 // of the announcement, among those to the same process; 0: not counted
	remote uint64 // matched: the receive's handle
	limit  int    // matched: bytes to send
	moved  int    // of these, sent
}

// Begin makes s the end of a message to a process, which is still to be announced.
func (s *Send) Begin(to int) { *s = Send{stage: queued, to: to} }

// Announced says that the announcement is out. number is from Peer.Count, or 0 for a message to
// the process itself.
func (s *Send) Announced(number uint64) {
	must.That(s.stage == queued, "announced in stage %d", s.stage)
	s.stage, s.number = announced, number
}

// IsUsed says whether s is an end that is not over.
func (s *Send) IsUsed() bool { return s.stage != unused }

// IsQueued says whether the announcement is not out yet.
func (s *Send) IsQueued() bool { return s.stage == queued }

// Waits says whether the announcement is out and the receiver has not answered.
func (s *Send) Waits() bool { return s.stage == announced || s.stage == asked }

// HasMatched says whether a receive is known to have matched: the message goes to its end.
func (s *Send) HasMatched() bool { return s.stage == pulled || s.stage == matched }

// A Return says what comes of a message that its sender wants back.
type Return uint8

// What TakeBack returns.
const (
	TooLate Return = iota // it has matched, or the send is over: nothing comes of it
	AtOnce                // it was not announced: the owner ends the send
	Ask                   // the owner sends a Withdraw; the answer will end the send, or a grant goes on with it
	Asked                 // that was done before
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

// Withdraw returns the frame that asks for the message of a send back.
func (s *Send) Withdraw(handle uint64) Withdraw { return Withdraw{Send: handle, Number: s.number} }

// Pulled says that the receiver copies the payload from this process's memory.
func (s *Send) Pulled() {
	if s.Waits() {
		s.stage = pulled
	}
}

// Grant takes a grant of a process for a payload of size bytes. The owner sends the chunks if it
// says true, else Gone.
func (s *Send) Grant(from int, g Grant, size int) bool {
	if !s.Waits() && s.stage != pulled || from != s.to || g.Limit > uint64(size) {
		return false
	}
	s.stage, s.remote, s.limit, s.moved = matched, g.Recv, int(g.Limit), 0
	return true
}

// Chunk returns the next bytes to send to the receive with a handle, at most so many. None are
// left if n is 0: the send is over.
func (s *Send) Chunk(most int) (recv uint64, offset, n int) {
	must.That(s.stage == matched, "a chunk in stage %d", s.stage)
	return s.remote, s.moved, min(s.limit-s.moved, most)
}

// Pushed says that a chunk of n bytes is out.
func (s *Send) Pushed(n int) {
	must.That(s.stage == matched && n <= s.limit-s.moved, "%d bytes pushed in stage %d, %d of %d before", n, s.stage, s.moved, s.limit)
	s.moved += n
}

// Withdrawn says whether the answer of a process that nothing has matched ends the send.
func (s *Send) Withdrawn(from int) bool { return s.stage == asked && from == s.to }

// Refused says whether the answer of a process that its communicator is gone ends the send.
func (s *Send) Refused(from int) bool { return s.Waits() && from == s.to }

// End gives the buffer back, for whatever reason. tell says that the receiver waits for chunks that
// will not come: the owner sends it the Gone.
func (s *Send) End() (gone Gone, tell bool) {
	must.That(s.stage != unused, "a send ends twice")
	tell = s.stage == matched && s.moved < s.limit
	s.stage = unused
	return Gone{Recv: s.remote}, tell
}
