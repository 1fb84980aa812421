package sched

import "slices"

// Members call the collectives of a communicator in one order, so all number them alike. The number
// is in the tag of each message of a collective: the lower bits of the tag, and the highest bit
// reports that the sender's call has failed.
const (
	NumberBits = 14
	Notice     = 1 << 30

	numberMask = 1<<NumberBits - 1
)

// Short returns the number of a collective as messages carry it.
func Short(number uint32) int { return int(number & numberMask) }

// ShortOf returns the number in the tag of a message.
func ShortOf(tag int) int { return tag & numberMask }

// IsLater reports whether the number a in a tag is of a later collective than b.
func IsLater(a, b int) bool {
	d := (a - b) & numberMask
	return d != 0 && d < 1<<(NumberBits-1)
}

// Numbers are one member's collectives on a communicator.
type Numbers struct {
	last   uint32 // collective that this member has begun
	past   int    // short number of the last one that ended
	failed []int  // short numbers of those that failed
}

// Last returns the number of the last collective that this member has begun.
func (n *Numbers) Last() uint32 { return n.last }

// Next gives the next collective its number. Failures are forgotten when their numbers recur.
func (n *Numbers) Next() {
	n.last++
	if len(n.failed) > 0 {
		n.failed = slices.DeleteFunc(n.failed, func(f int) bool { return IsLater(f, Short(n.last)) })
	}
}

// End notes that a collective is over here.
func (n *Numbers) End(short int, failed bool) {
	n.past = short
	if failed {
		n.failed = append(n.failed, short)
	}
}

// IsOver reports whether a message is of a collective that is over here: data, if that collective
// has failed, and notices, if it is not under way.
func (n *Numbers) IsOver(tag int, underWay func(short int) bool) bool {
	short := ShortOf(tag)
	if slices.Contains(n.failed, short) {
		return true
	}
	past := short == n.past || IsLater(Short(n.last), short)
	return tag&Notice != 0 && past && !underWay(short)
}
