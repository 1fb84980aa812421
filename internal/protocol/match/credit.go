package match

import "github.com/goulfm/goulfm/internal/base/must"

// DefaultLimitBytes is the number of bytes that all senders together may have pushed, unreceived,
// into one process. A higher limit saves announcements when receivers lag; a lower one bounds
// memory more tightly.
const DefaultLimitBytes = 64 << 20

// limitBytesMin keeps the limit of a pair useful when there are very many pairs.
const limitBytesMin = 64 << 10

// overheadBytes is the cost of an unexpected message beside its payload: its header and the
// smallest buffer, rounded up.
const overheadBytes = 256

// Charge returns the bytes that a pushed payload occupies at a receiver that
// does not expect it. Both sides of a pair should count Charge(n), not n: an
// endless stream of empty messages otherwise never runs out of credit and fills
// the receiver's memory with headers.
func Charge(n int) int { return n + overheadBytes }

// Limit returns one pair's share of totalBytes among peers senders, at least 64
// KiB: with more peers than totalBytes/64KiB the sum of shares exceeds the total.
func Limit(totalBytes uint64, peers int) uint64 {
	if peers > 1 {
		totalBytes /= uint64(peers)
	}
	return max(totalBytes, limitBytesMin)
}

// A Credit is the sender's account of the bytes that it may push to one receiver. The receiver
// counts up, and never down, the bytes that left its unexpected queue or never entered it; the
// sender reads that one word at any time. A total, unlike increments, cannot be counted twice or
// lost.
//
// Invariant: returned <= sent <= returned+limit.
type Credit struct {
	limit    uint64 // bytes, fixed
	sent     uint64 // bytes ever taken
	returned uint64 // bytes known to be out of the receiver's queue
}

// NewCredit returns an account of limitBytes, with no bytes taken.
func NewCredit(limitBytes uint64) Credit { return Credit{limit: limitBytes} }

// Take takes n >= 0 bytes of credit for a payload to push. False means that there is not enough
// credit: the sender must announce the message instead. No credit was taken then.
func (c *Credit) Take(n int) bool {
	must.That(n >= 0, "negative payload")
	if uint64(n) > c.Left() {
		return false
	}
	c.sent += uint64(n)
	return true
}

// Untake takes back a Take of n bytes whose payload was never pushed: the receiver will not count
// it. Without Untake, a sender that drops messages waiting for room would run out of credit for
// good.
func (c *Credit) Untake(n int) {
	must.That(n >= 0 && uint64(n) <= c.sent-c.returned, "more than was taken")
	c.sent -= uint64(n)
}

// Left returns the bytes that Take can still give.
func (c *Credit) Left() uint64 { return c.limit - (c.sent - c.returned) }

// Returned updates the account with the receiver's total. The receiver may write anything into that
// word, so Returned checks the total. An older total changes nothing. A total beyond the bytes ever
// sent comes from a broken receiver and is ignored, because it would lift the limit.
func (c *Credit) Returned(total uint64) {
	if total > c.returned && total <= c.sent {
		c.returned = total
	}
}
