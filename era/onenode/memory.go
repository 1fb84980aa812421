package onenode

import "github.com/goulfm/goulfm/era"

// Slots is how many agreements of a series have their place in memory at once:
// agreement k is in slot k mod Slots. See the package comment for why so many.
const Slots = 2 * era.Window

// Line is what a member publishes of its contribution. A line is plain when it has
// no long part: then it says all, and the member knew of no death, had nothing
// acknowledged, votes for it and brings no entry.
type Line struct {
	Call      uint64 // the claim's Call
	Flag      uint64
	LongBytes uint32 // length of the whole contribution, published beside the line; 0 = plain
}

// Memory is what the members of one communicator share for one series. Each has its
// own view of it. A member writes only its own lines and values, and swaps words.
//
// A place in memory may serve another communicator before and after this one. Two
// rules keep them apart. When the first member learns of the communicator, all
// words are tagged (see Word), and no line is published. And Read, Long and Value
// give nothing that was written for another communicator, whatever the owner does
// at the same time: an owner can have closed this one while a slow member still
// looks.
//
// What a member has written can be read when the member is no more.
type Memory interface {
	// Publish writes this member's contribution of agreement seq: the long part
	// first, then the line, the number last, by one atomic store. If the place was
	// another communicator's, the number that stands there is made invalid before all
	// that: a slow reader would take half of the new line for the old one.
	Publish(slot int, seq uint64, l Line, long []byte)
	// Read returns member m's line if its number is seq: the number is read first,
	// by one atomic load, then the rest, then the number again. What stood there for
	// this communicator before is seq-Slots, or nothing: the low bits tell it.
	Read(m, slot int, seq uint64) (l Line, there bool)
	// Long returns a copy of the n bytes beside member m's line, after Read gave it;
	// nil if they are not this communicator's any more. n is at most LongMax. It stays
	// as it is until Long or Value is called again.
	Long(m, slot, n int) []byte
	// Offer writes this member's value. It is complete before a Swap that follows.
	Offer(slot int, value []byte)
	// Value returns a copy of member m's value, which a decision word has named; nil
	// if it is not this communicator's any more. It stays as Long's does.
	Value(m, slot int) []byte
	// Word returns the decision word of the slot. There is one for all members, and
	// it begins as Tag<<32 with the Tag of Config. One of another tag serves another
	// communicator.
	Word(slot int) uint64
	// Swap changes the decision word atomically and says whether it held old.
	Swap(slot int, old, new uint64) bool
}

// EntryMax bounds a payload in bytes: an index and two numbers, as internal/protocol/commstate
// encodes them.
const EntryMax = 5 + 10 + 10

// LongMax returns how long the long part of a contribution can be, in bytes, among n
// members.
func LongMax(n int) int {
	const tag, from, claims, vetoes, flag, returned, entries = 1, 4, 2 * (10 + 3), 4, 10, 1, 1
	return tag + from + claims + vetoes + flag + 2*setMax(n) + returned + entries + entryMax
}

// ValueMax returns how long a value can be, in bytes, among n members.
func ValueMax(n int) int {
	const tag, claims, flag, returned, entries = 1, 2 * (10 + 3), 10, 1, 3
	return tag + claims + flag + 4*setMax(n) + returned + entries + n*entryMax
}

// entryMax is EntryMax with the rank and the length before it.
const entryMax = 3 + 1 + EntryMax

// setMax bounds an encoded set of ranks below n: its length, and 64-bit words.
func setMax(n int) int { return 3 + 8*((n+63)/64) }
