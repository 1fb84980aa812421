package window

import (
	"unsafe"

	"github.com/goulfm/goulfm/internal/protocol/robustlock"
	"github.com/goulfm/goulfm/internal/shm/publish"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// Offsets in a Control: see the package comment.
const (
	lockWordAt = 0
	lockHintAt = segment.Line
	bellAt     = 2 * segment.Line
	originsAt  = 3 * segment.Line
)

// A Control is the shared state with which the members of a window synchronize access to the memory
// of one member.
type Control struct {
	mem     []byte // if striped, with the locks of stripes at its end
	members int
}

// Stripes is the number of locks for the elements of a window whose operations use locks. The first
// lock protects the first StripeBytes of the elements, the second lock the next StripeBytes, and so
// on; after the last lock the first follows again.
const (
	Stripes     = 64
	StripeBytes = 4 << 10
)

// ControlBytes returns the size of a Control.
func ControlBytes(members, counters int, striped bool) int {
	bytes := postedAt(members, members) + counters*segment.Line
	if striped {
		bytes += Stripes * segment.Line
	}
	return bytes
}

// ControlOf returns the Control that lies in a Region of ControlBytes.
func ControlOf(r *Region, members int) Control { return Control{mem: r.Bytes(), members: members} }

// postedAt returns the offset of the posted word of origin o; for o = members, the offset of the
// counters.
func postedAt(members, o int) int {
	at := originsAt + members*segment.Line
	if o == members {
		return at + roundUp(8*members, segment.Line)
	}
	return at + 8*o
}

func (c Control) word(off int) *uint64 { return (*uint64)(unsafe.Pointer(&c.mem[off : off+8][0])) }

// Bell is the word on which goroutines of the owner sleep.
func (c Control) Bell() *uint32 { return (*uint32)(unsafe.Pointer(&c.mem[bellAt])) }

// Posted counts the posts of the owner for origin o. Only the owner stores this word.
func (c Control) Posted(o int) *uint64 { return c.word(postedAt(c.members, o)) }

// Completed counts the epochs that origin o has completed here. Only o stores this word.
func (c Control) Completed(o int) *uint64 { return c.word(originsAt + o*segment.Line + 8) }

// Counter is the i-th counter of notifications.
func (c Control) Counter(i int) *uint64 {
	return c.word(postedAt(c.members, c.members) + i*segment.Line)
}

// Stripe is the lock of the elements at a byte: 0, or the holder. All members acquire the lock by
// compare-and-swap, and the holder stores 0.
func (c Control) Stripe(at int) *uint64 {
	return c.word(len(c.mem) - (1+at/StripeBytes%Stripes)*segment.Line)
}

// LockOf is the memory of the owner's lock, as seen by origin Me.
type LockOf struct {
	Control
	Me int
}

func (l LockOf) claim(o int) *uint64 { return l.word(originsAt + o*segment.Line) }

// Word implements robustlock.Memory.
func (l LockOf) Word() uint64 { return segment.Load64(l.word(lockWordAt)) }

// Swap implements robustlock.Memory.
func (l LockOf) Swap(old, v uint64) bool { return segment.CompareAndSwap64(l.word(lockWordAt), old, v) }

// Release implements robustlock.Memory.
func (l LockOf) Release(w uint64) { segment.Publish64(l.word(lockWordAt), w) }

// ServedLock is LockOf for the member that performs the steps of origin Me. A late step may find
// another owner of the lock, so an exclusive hold ends by a compare-and-swap of the origin's own
// name, never by a store.
type ServedLock struct {
	LockOf
	Name uint64 // of the origin
}

// Release implements robustlock.Memory.
func (l ServedLock) Release(w uint64) { segment.CompareAndSwap64(l.word(lockWordAt), l.Name, w) }

// Hint implements robustlock.Memory.
func (l LockOf) Hint() bool { return segment.Load64(l.word(lockHintAt)) != 0 }

// SetHint implements robustlock.Memory.
func (l LockOf) SetHint(waiting bool) {
	v := uint64(0)
	if waiting {
		v = 1
	}
	segment.Publish64(l.word(lockHintAt), v)
}

// Claim implements robustlock.Memory.
func (l LockOf) Claim(o int) robustlock.Claim { return robustlock.Claim(segment.Load64(l.claim(o))) }

// SetClaim implements robustlock.Memory.
func (l LockOf) SetClaim(c robustlock.Claim) { segment.Publish64(l.claim(l.Me), uint64(c)) }

// SetClaimFenced implements robustlock.Memory.
func (l LockOf) SetClaimFenced(c robustlock.Claim) {
	segment.Publish64(l.claim(l.Me), uint64(c))
	publish.Fence()
}
