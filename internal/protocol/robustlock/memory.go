package robustlock

// Claim is the request that one process publishes in the lock of one target.
type Claim uint64

// The claims.
const (
	Absent   Claim = iota // requests nothing, or holds the lock exclusively
	Sharing               // holds a share, or is about to check whether it may
	Reading               // waits for a share
	Claiming              // waits to hold it exclusively
)

// Memory is the words that the processes of a window share for the lock of one target. Each process
// has its own view of Memory. All words are 64 bits, read and written atomically, and begin as 0:
//
//	word    writers                                             purpose
//	W       all, by compare-and-swap; its holder, by a store    the holder of the lock
//	N       all                                                 hint: a process waits
//	S[o]    origin o alone                                      the request of o
//
// S[o] needs a cache line of its own; W and N need one each, since waiters poll W.
//
// The words that a process has written can be read after the end of that process.
type Memory interface {
	// Word returns W.
	Word() uint64
	// Swap changes W from old to new, and reports whether it did. Swap is a full fence: no later
	// load is made before it.
	Swap(old, new uint64) bool
	// Release stores W, after all earlier stores.
	Release(w uint64)
	// Hint returns whether N is not 0.
	Hint() bool
	// SetHint stores N. The store need not be visible at once: see Lock.Unlock.
	SetHint(waiting bool)
	// Claim returns S[o].
	Claim(o int) Claim
	// SetClaim stores this process's claim, after all earlier stores.
	SetClaim(c Claim)
	// SetClaimFenced stores the claim as well, and no later load is made before other processes see
	// the claim.
	SetClaimFenced(c Claim)
}

// Members is the set of processes that may request the lock, as one process knows them. A process
// is known in W by its name, a number from 1 to NameMax that no other process ever has.
type Members interface {
	// Len returns the number of members: origins 0 to Len()-1.
	Len() int
	// Name returns the name of an origin.
	Name(o int) uint64
	// Origin returns the origin that has a name, or false: then the process is of an earlier time
	// of the window, and counts as dead.
	Origin(name uint64) (o int, ok bool)
	// Dead reports whether an origin is known to be dead. The answer may become true with any
	// delay, and never becomes false again. Once Dead is true at any process, no store of the dead
	// is still to come.
	Dead(o int) bool
}

// The parts of W: a name, and two marks.
const (
	// NameMax is the greatest name.
	NameMax = 1<<62 - 1

	free   uint64 = 0
	first  uint64 = 1 << 62 // F, without a name: free, and waiting readers come first
	handed uint64 = 1 << 63 // H, with a name: handed to that process, which has not taken it yet
)

// Next returns the processes that a process may need to wake after it has stored w: the process
// that w names, which holds the lock or has been handed it, or 0; and whether waiting readers come
// first.
func Next(w uint64) (name uint64, readers bool) { return w & NameMax, w&first != 0 }
