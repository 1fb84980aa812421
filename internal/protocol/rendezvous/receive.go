package rendezvous

import "github.com/goulfm/goulfm/internal/base/must"

// A Recv is the receiver's end of one long message, from its match on. Its owner embeds it in a
// request. The zero Recv has not matched a long message; nor has one that is over.
type Recv struct {
	stage  stage
	from   int    // process
	remote uint64 // the send's handle
	limit  int    // bytes that come
	moved  int    // of these, in their place
}

// Match makes r the end of a message of a process that was announced as send, of size bytes,
// for a buffer of room bytes. What does not fit never comes.
func (r *Recv) Match(from int, send uint64, size, room int) {
	*r = Recv{stage: matched, from: from, remote: send, limit: min(size, room)}
}

// HasMatched says whether a long message is on its way to r.
func (r *Recv) HasMatched() bool { return r.stage == matched }

// Grant returns the frame that asks for the chunks, all of them.
func (r *Recv) Grant(handle uint64) Grant {
	must.That(r.stage == matched, "a grant in stage %d", r.stage)
	r.moved = 0
	return Grant{Send: r.remote, Recv: handle, Limit: uint64(r.limit)}
}

// Limit returns how many bytes come.
func (r *Recv) Limit() int { return r.limit }

// Send returns the handle of the send that r has matched.
func (r *Recv) Send() uint64 { return r.remote }

// Lands says whether a chunk of n bytes at an offset is the next one of what a process was
// granted: the owner copies it there, and says Landed. Any other is dropped.
func (r *Recv) Lands(from, offset, n int) bool {
	return r.stage == matched && from == r.from && offset == r.moved && n >= 0 && n <= r.limit-r.moved
}

// Landed says that n bytes are in their place, and returns whether these were the last: the
// owner ends the receive.
func (r *Recv) Landed(n int) (last bool) {
	r.moved += n
	return r.moved == r.limit
}

// IsGone says whether the answer of a process that the send is over ends the receive.
func (r *Recv) IsGone(from int) bool { return r.stage == matched && from == r.from }

// End gives the buffer back.
func (r *Recv) End() {
	must.That(r.stage == matched, "a receive ends twice, or before its match")
	r.stage = unused
}
