package nodemem

import "github.com/goulfm/goulfm/internal/shm/segment"

// A Revocation on a node is a word in the first member's block, which every member that learns of
// the revocation writes, and the epoch, which all waiting members poll. A member that dies in
// between moves the epoch by its death:
//
//	revoker: word = tag; epoch + 1; wakes the members
//	others:  the epoch has moved: is word = tag?
//
// The tag is of the first member's context index: no other communicator that has or had
// the block has the same. Nobody writes it once the communicator is closed, because all
// members have proposed that.
type Revocation struct {
	word *uint64 // nil: by messages
	tag  uint64
}

// NewRevocation returns the revocation of the communicator whose first member has the context index
// first and the agreement words.
func NewRevocation(words segment.Region, first uint32) Revocation {
	return Revocation{word: words.Word(segment.WordBytes), tag: uint64(first) + 1}
}

// InMemory reports whether members learn of a revocation by memory.
func (r Revocation) InMemory() bool { return r.word != nil }

// Seen reports whether a member has revoked the communicator in memory.
func (r Revocation) Seen() bool { return r.word != nil && segment.Load64(r.word) == r.tag }

// Store revokes the communicator in memory. The caller moves the epoch next.
func (r Revocation) Store() { segment.Store64(r.word, r.tag) }
