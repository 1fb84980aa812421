package match

// A recvQueue is a list of posted receives in post order.
type recvQueue struct {
	head, tail *Recv
	length     int
	index      *index[Recv] // of a long queue; otherwise nil
}

// looseShift is the first bit of a requested tag that names the bits which are not compared.
const looseShift = 32

// Loosely returns the requested tag of a receive that takes every tag which differs from tag at
// most in the bits of ignore. Both have 31 bits.
func Loosely(tag, ignore int) int { return ignore<<looseShift | tag&^ignore }

// matches reports whether a receive that requests want (a tag, Any, or a value of Loosely) takes
// tag.
func matches(want, tag int) bool {
	return want == tag || want == Any || want >= 1<<looseShift && tag&^(want>>looseShift) == want&(1<<looseShift-1)
}

// first returns the earliest receive that takes a message with this tag, or nil.
func (q *recvQueue) first(tag int) *Recv {
	if q.index != nil {
		return q.find(tag)
	}
	r := q.head
	for r != nil && !matches(r.Tag, tag) {
		r = r.next
	}
	return r
}

// find is first in a long queue.
func (q *recvQueue) find(tag int) *Recv {
	r := q.index.first(tag, waitsAs, nil)
	if w := q.index.first(anyTag, waitsAs, func(w *Recv) bool { return matches(w.Tag, tag) }); w != nil && (r == nil || w.seq < r.seq) {
		return w
	}
	return r
}

// waitsAs reports whether a receive is still posted under this place in the post order.
func waitsAs(r *Recv, seq uint64) bool { return r.queued && r.seq == seq }

// push puts r, which has its place in the post order, at the end. A queue with more than long
// entries gets an index.
func (q *recvQueue) push(r *Recv, long int) {
	r.prev = q.tail
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.next = r
	}
	q.tail = r
	if q.length++; q.index != nil || q.length > long {
		q.enter(r, long)
	}
}

// enter puts r, the last, into the index of a long queue.
func (q *recvQueue) enter(r *Recv, long int) {
	if q.index != nil && !q.index.stale(q.length) {
		q.index.add(lineOf(r.Tag), r, r.seq)
		return
	}
	q.index = newIndex[Recv](long)
	for r := q.head; r != nil; r = r.next {
		q.index.add(lineOf(r.Tag), r, r.seq)
	}
}

func (q *recvQueue) unlink(r *Recv) {
	if r.prev == nil {
		q.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		q.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
	q.length--
	q.index = q.index.without(q.length)
}

// A chain names one of the two lists that a kept message is in.
type chain uint8

const (
	bySource  chain = iota // the messages of one source on one context
	byArrival              // all messages of one context
)

// A link is a message's place in one chain.
type link struct {
	prev, next *Message
}

// A messageQueue is a list of messages by arrival, along one chain.
type messageQueue struct {
	head, tail *Message
	length     int
	index      *index[Message] // of a long queue; otherwise nil
}

// first returns the earliest message that a receive of this tag (or Any) takes, or nil. A receive
// from any source skips forgotten messages.
func (q *messageQueue) first(c chain, want int) *Message {
	if q.index != nil && lineOf(want) != anyTag {
		return q.index.first(want, isKeptAs, func(msg *Message) bool { return c != byArrival || !msg.forgotten })
	}
	msg := q.head
	for msg != nil && (!matches(want, msg.Tag) || c == byArrival && msg.forgotten) {
		msg = msg.links[c].next
	}
	return msg
}

// isKeptAs reports whether a message is still kept under this number.
func isKeptAs(msg *Message, number uint64) bool { return msg.where == queued && msg.number == number }

// push puts msg at the end. A queue with more than long entries gets an index.
func (q *messageQueue) push(c chain, msg *Message, long int) {
	msg.links[c].prev = q.tail
	if q.tail == nil {
		q.head = msg
	} else {
		q.tail.links[c].next = msg
	}
	q.tail = msg
	if q.length++; q.index != nil || q.length > long {
		q.enter(c, msg, long)
	}
}

// enter puts msg, the last, into the index of a long queue.
func (q *messageQueue) enter(c chain, msg *Message, long int) {
	if q.index != nil && !q.index.stale(q.length) {
		q.index.add(msg.Tag, msg, msg.number)
		return
	}
	q.index = newIndex[Message](long)
	for msg := q.head; msg != nil; msg = msg.links[c].next {
		q.index.add(msg.Tag, msg, msg.number)
	}
}

func (q *messageQueue) unlink(c chain, msg *Message) {
	l := msg.links[c]
	if l.prev == nil {
		q.head = l.next
	} else {
		l.prev.links[c].next = l.next
	}
	if l.next == nil {
		q.tail = l.prev
	} else {
		l.next.links[c].prev = l.prev
	}
	msg.links[c] = link{}
	q.length--
	q.index = q.index.without(q.length)
}
