package match

import "github.com/goulfm/goulfm/internal/base/must"

// DefaultLimitBytes is what all senders together may have pushed, unreceived,
// into one process. More of it saves announcements when receivers lag; less of
// it bounds memory tighter.
const DefaultLimitBytes = 64 << 20

// limitBytesMin keeps a pair useful when there are very many.
const limitBytesMin = 64 << 10

// overheadBytes is what an unexpected message costs beside its payload: its
// header and the smallest buffer, rounded up.
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

// A Credit is the sender's account of what it may push to one receiver. The
// receiver counts up, and never down, the bytes that left its unexpected queue
// or never entered it; the sender reads that one word when it likes. A total
// instead of increments cannot be counted twice or lost.
//
// Invariant: returned <= sent <= returned+limit.
type Credit struct {
	limit    uint64 // bytes, fixed
	sent     uint64 // bytes ever taken
	returned uint64 // bytes known to be out of the receiver's queue
}

// NewCredit returns an account of limitBytes, nothing of it taken.
func NewCredit(limitBytes uint64) Credit { return Credit{limit: limitBytes} }

// Take takes n >= 0 bytes of credit for a payload to push. False means that
// there is not enough: announce it instead. Nothing was taken then.
func (c *Credit) Take(n int) bool {
	must.That(n >= 0, "negative payload")
	if uint64(n) > c.Left() {
		return false
	}
	c.sent += uint64(n)
	return true
}

// Untake takes back a Take of n bytes whose payload was never pushed: the receiver
// will not count it. Left out, a sender that gives up what waits for room would run
// out of credit for good.
func (c *Credit) Untake(n int) {
	must.That(n >= 0 && uint64(n) <= c.sent-c.returned, "more than was taken")
	c.sent -= uint64(n)
}

// Left returns the bytes that Take can still give.
func (c *Credit) Left() uint64 { return c.limit - (c.sent - c.returned) }

// Returned tells the account the receiver's total. The word is the receiver's
// to write, so it is judged before it is believed: an older total changes
// nothing, and one beyond what was ever sent is a broken receiver's and is
// ignored, or it would lift the limit.
func (c *Credit) Returned(total uint64) {
	if total > c.returned && total <= c.sent {
		c.returned = total
	}
}
