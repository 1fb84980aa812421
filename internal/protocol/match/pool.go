package match

import (
	"math/bits"

	"github.com/goulfm/goulfm/internal/base/must"
)

// Buffers come in powers of two. Larger payloads are announced, not pushed, or
// rare enough to be allocated one by one.
const (
	bufferBitsMin = 6  // 64 bytes
	bufferBitsMax = 16 // 64 KiB
	classes       = bufferBitsMax - bufferBitsMin + 1
)

// Bounds of the memory that the pool withholds from the garbage collector.
const (
	pooledBytesMax    = 16 << 20
	pooledMessagesMax = 1 << 14
)

// A pool holds free messages and free payload buffers for reuse.
// Invariant: bytes <= pooledBytesMax and messages <= pooledMessagesMax.
type pool struct {
	free     *Message // linked along byArrival
	messages int
	buffers  [classes][][]byte // of class c, each of capacity 1<<(bufferBitsMin+c)
	bytes    int               // their total capacity
}

// Message returns a zeroed message for Keep.
func (m *Matcher) Message() *Message {
	msg := m.pool.free
	if msg == nil {
		return new(Message)
	}
	m.pool.free = msg.links[byArrival].next
	m.pool.messages--
	msg.links[byArrival].next = nil
	msg.where = outside
	return msg
}

// Recycle takes msg, which the caller owns, and its Data back into the pools.
// Data must be nil or come from Buffer.
func (m *Matcher) Recycle(msg *Message) {
	must.That(msg.where == outside, "message recycled twice, or while queued")
	m.pool.reclaim(msg.Data)
	*msg = Message{where: pooled}
	if m.pool.messages == pooledMessagesMax {
		return
	}
	msg.links[byArrival].next = m.pool.free
	m.pool.free = msg
	m.pool.messages++
}

// Buffer returns n bytes with any content for a Message's Data.
func (m *Matcher) Buffer(n int) []byte {
	c := class(n)
	if c >= classes {
		return make([]byte, n)
	}
	stack := &m.pool.buffers[c]
	last := len(*stack) - 1
	if last < 0 {
		return make([]byte, n, 1<<(bufferBitsMin+c))
	}
	b := (*stack)[last]
	(*stack)[last] = nil
	*stack = (*stack)[:last]
	m.pool.bytes -= cap(b)
	return b[:n]
}

// reclaim keeps b for the next Buffer if it fits a class and the bound allows.
func (p *pool) reclaim(b []byte) {
	c := class(cap(b))
	if c >= classes || cap(b) != 1<<(bufferBitsMin+c) || p.bytes+cap(b) > pooledBytesMax {
		return
	}
	p.buffers[c] = append(p.buffers[c], b[:0])
	p.bytes += cap(b)
}

// class returns the smallest class that holds n bytes; classes or more if none.
func class(n int) int {
	if n <= 1<<bufferBitsMin {
		return 0
	}
	return bits.Len(uint(n-1)) - bufferBitsMin
}
