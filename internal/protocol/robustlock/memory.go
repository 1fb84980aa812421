package robustlock

// Claim is what one process says of itself in the lock of one target.
type Claim uint64

// The claims.
const (
	Absent   Claim = iota // wants nothing, or holds it exclusively
	Sharing               // holds it shared, or is about to look whether it may
	Reading               // waits for a share
	Claiming              // waits to hold it exclusively
)

// Memory is what the processes of a window share for the lock of one target. Each has its
// own view of it. All words are 64 bits, read and written atomically, and begin as 0:
//
//	word    writers                                   why
//	W       all, by compare-and-swap; its holder, by a store    who holds the lock
//	N       all                                       hint: somebody waits
//	S[o]    origin o alone                            what o wants
//
// S[o] wants a cache line of its own; W and N one each: who waits looks at W.
//
// What a process has written can be read when the process is no more.
type Memory interface {
	// Word returns W.
	Word() uint64
	// Swap changes W from old to new, and says whether it did. It is a full fence: no load
	// that follows is made before it.
	Swap(old, new uint64) bool
	// Release stores W, after all that was stored before it.
	Release(w uint64)
	// Hint returns whether N is not 0.
	Hint() bool
	// SetHint stores N. It need not be visible at once: see Lock.Unlock.
	SetHint(waiting bool)
	// Claim returns S[o].
	Claim(o int) Claim
	// SetClaim stores this process's claim, after all that was stored before it.
	SetClaim(c Claim)
	// SetClaimFenced stores it, too, and no load that follows is made before others see it.
	SetClaimFenced(c Claim)
}

// Members is who may want the lock, as one process knows them. A process is known in W by
// its name, a number from 1 to NameMax that no other process ever has.
type Members interface {
	// Len returns how many they are: origins 0 to Len()-1.
	Len() int
	// Name returns the name of an origin.
	Name(o int) uint64
	// Origin returns who has a name, or false: then the process is of an earlier time of
	// the window, and counts as dead.
	Origin(name uint64) (o int, ok bool)
	// Dead says whether an origin is known to be dead. It may learn that as late as it likes,
	// and never unlearns it. Once any process says yes, no store of the dead is still to come.
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

// Next returns what whoever has stored W may want to wake: the process that W names, which holds
// the lock or has been handed it, or 0; and whether waiting readers come first.
func Next(w uint64) (name uint64, readers bool) { return w & NameMax, w&first != 0 }
