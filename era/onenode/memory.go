package onenode

import "github.com/goulfm/goulfm/era"

// Slots is the number of agreements of a series with a place in memory at once: agreement k is in
// slot k mod Slots. The package comment gives the reason for the number.
const Slots = 2 * era.Window

// Line is the published form of a member's contribution. A line without a long part is plain: then
// the line is the whole contribution, and the member knew of no death, had acknowledged none, casts
// no veto and adds no entry.
type Line struct {
	Call      uint64 // the claim's Call
	Flag      uint64
	LongBytes uint32 // length of the whole contribution, published beside the line; 0 = plain
}

// Memory is the memory that the members of one communicator share for one series. Each member has
// its own view. A member writes only its own lines and values, and swaps words.
//
// A place in memory may serve another communicator before and after this one. Two rules keep them
// apart. When the first member learns of the communicator, all words are tagged (see Word), and no
// line is published. And Read, Long and Value never return data that was written for another
// communicator, even while the owner writes at the same time: an owner can have closed this
// communicator while a slow member still reads.
//
// Data of a member remains readable after its end.
type Memory interface {
	// Publish writes this member's contribution of agreement seq: the long part
	// first, then the line, the number last, by one atomic store. If the place was
	// another communicator's, the number that stands there is made invalid before all
	// that: a slow reader would take half of the new line for the old one.
	Publish(slot int, seq uint64, l Line, long []byte)
	// Read returns member m's line if its number is seq: the number is read first, by one atomic
	// load, then the rest, then the number again. The former line of this communicator there is of
	// seq-Slots, or none: the low bits distinguish them.
	Read(m, slot int, seq uint64) (l Line, there bool)
	// Long returns a copy of the n bytes beside member m's line, after Read gave it; nil if they
	// are not this communicator's any more. n is at most LongMax. The copy is valid until the next
	// call of Long or Value.
	Long(m, slot, n int) []byte
	// Offer writes this member's value. The value is complete before a later Swap.
	Offer(slot int, value []byte)
	// Value returns a copy of member m's value, which a decision word has named; nil if the value
	// is not this communicator's any more. The copy is valid as long as that of Long.
	Value(m, slot int) []byte
	// Word returns the decision word of the slot. There is one word for all members, initially
	// Tag<<32 with the Tag of Config. A word with another tag serves another communicator.
	Word(slot int) uint64
	// Swap changes the decision word atomically and reports whether the word held old.
	Swap(slot int, old, new uint64) bool
}

// EntryMax bounds a payload in bytes: an index and two numbers, as internal/protocol/commstate
// encodes them.
const EntryMax = 5 + 10 + 10

// LongMax returns the greatest length of the long part of a contribution, in bytes, among n
// members.
func LongMax(n int) int {
	const tag, from, claims, vetoes, flag, returned, entries = 1, 4, 2 * (10 + 3), 4, 10, 1, 1
	return tag + from + claims + vetoes + flag + 2*setMax(n) + returned + entries + entryMax
}

// ValueMax returns the greatest length of a value, in bytes, among n members.
func ValueMax(n int) int {
	const tag, claims, flag, returned, entries = 1, 2 * (10 + 3), 10, 1, 3
	return tag + claims + flag + 4*setMax(n) + returned + entries + n*entryMax
}

// entryMax is EntryMax with the leading rank and length.
const entryMax = 3 + 1 + EntryMax

// setMax bounds an encoded set of ranks below n: its length, and 64-bit words.
func setMax(n int) int { return 3 + 8*((n+63)/64) }
