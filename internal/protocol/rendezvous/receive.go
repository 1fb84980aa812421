package rendezvous

import "github.com/goulfm/goulfm/internal/base/must"

// A Recv is the receiver's end of one long message, from its match on. Its owner embeds the Recv in
// a request. The zero Recv, and one that is over, has not matched a long message.
type Recv struct {
	stage  stage
	from   int    // process
	remote uint64 // the send's handle
	limit  int    // bytes to receive
	moved  int    // of these, stored
}

// Match makes r the end of a message that a process announced as send. The message has size bytes,
// and the buffer has room bytes. Bytes that do not fit are never sent.
func (r *Recv) Match(from int, send uint64, size, room int) {
	*r = Recv{stage: matched, from: from, remote: send, limit: min(size, room)}
}

// HasMatched reports whether a long message is on its way to r.
func (r *Recv) HasMatched() bool { return r.stage == matched }

// Grant returns the frame that requests all chunks.
func (r *Recv) Grant(handle uint64) Grant {
	must.That(r.stage == matched, "a grant in stage %d", r.stage)
	r.moved = 0
	return Grant{Send: r.remote, Recv: handle, Limit: uint64(r.limit)}
}

// Limit returns the number of bytes to receive.
func (r *Recv) Limit() int { return r.limit }

// Send returns the handle of the send that r has matched.
func (r *Recv) Send() uint64 { return r.remote }

// Lands reports whether a chunk of n bytes at an offset is the next one of the grant to process
// from. If so, the owner copies the chunk and calls Landed. Otherwise the owner drops the chunk.
func (r *Recv) Lands(from, offset, n int) bool {
	return r.stage == matched && from == r.from && offset == r.moved && n >= 0 && n <= r.limit-r.moved
}

// Landed records that n bytes are stored, and returns whether these were the last: the owner ends
// the receive.
func (r *Recv) Landed(n int) (last bool) {
	r.moved += n
	return r.moved == r.limit
}

// IsGone reports whether the answer of a process that the send is over ends the receive.
func (r *Recv) IsGone(from int) bool { return r.stage == matched && from == r.from }

// End returns the buffer to the program.
func (r *Recv) End() {
	must.That(r.stage == matched, "a receive ends twice, or before its match")
	r.stage = unused
}
