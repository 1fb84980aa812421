package match

// A recvQueue is a list of posted receives in post order.
type recvQueue struct {
	head, tail *Recv
}

// looseShift is where a wanted tag names the bits that are not compared.
const looseShift = 32

// Loosely returns what a receive wants that takes tags which differ from tag in the
// bits of ignore at most. Both have 31 bits.
func Loosely(tag, ignore int) int { return ignore<<looseShift | tag&^ignore }

// matches says whether a receive that wants a tag (or Any, or one Loosely) takes this one.
func matches(want, tag int) bool {
	return want == tag || want == Any || want >= 1<<looseShift && tag&^(want>>looseShift) == want&(1<<looseShift-1)
}

// first returns the earliest receive that takes a message with this tag, or nil.
func (q *recvQueue) first(tag int) *Recv {
	r := q.head
	for r != nil && !matches(r.Tag, tag) {
		r = r.next
	}
	return r
}

func (q *recvQueue) push(r *Recv) {
	r.prev = q.tail
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.next = r
	}
	q.tail = r
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
}

// first returns the earliest message that a receive wanting this tag (or Any)
// takes, or nil. One from any source passes over what is forgotten.
func (q *messageQueue) first(c chain, want int) *Message {
	msg := q.head
	for msg != nil && (!matches(want, msg.Tag) || c == byArrival && msg.forgotten) {
		msg = msg.links[c].next
	}
	return msg
}

func (q *messageQueue) push(c chain, msg *Message) {
	msg.links[c].prev = q.tail
	if q.tail == nil {
		q.head = msg
	} else {
		q.tail.links[c].next = msg
	}
	q.tail = msg
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
}
