// Package robustlock is a lock in shared memory that survives the death of whoever holds it, waits
// for it, or is just being handed it. A one-sided window has one for each target: many read it at a
// time, or one writes.
//
// # Problem
//
// A process that is killed can leave a lock at any instruction. A lock that only says
// "taken" is then taken for ever; and one that passes to the next in silence hands over
// data that are half written. Queues and tickets lose everybody behind the dead.
//
// # What is promised
//
//   - An exclusive hold is alone. A share is beside other shares only.
//   - The share of a dead process is free, as soon as its death is known.
//   - A dead exclusive holder leaves the lock broken: who waits for it, and who comes later, is
//     told so, with the holder's name. Nobody gets the lock but who asks for it to mend
//     what it protects (Mend), and the release of that one makes it whole. If the
//     mender dies it is broken again.
//   - The death of a waiter, also of one that was just chosen, breaks nothing and blocks nobody.
//   - Who waits may give up at any moment.
//   - Nobody starves: writers are served in a circle, waiting readers before the next writer,
//     and readers that come later wait for a writer that has got its turn.
//
// # How
//
// One word, W, says who holds the lock exclusively or has just been handed it, by a name that
// is never used twice. Broken is not a state that somebody would have to store: it is "W
// names a dead process", so no death can lose it. Each process has a word of its own, S,
// for what it wants: Sharing, Reading (it waits for a share), Claiming, or nothing. There is
// no list of readers to repair, and no count of them.
//
//	W      means
//	0      free
//	F      free, but readers wait: a writer lets them in first
//	h      held by h; broken, if h is dead
//	h+H    handed to h, which has not taken it yet
//
// A writer swaps W from 0 to its name, then waits until no living process's S is Sharing. A
// reader sets its S to Sharing, makes a fence, and looks at W: it is in, or it goes back and
// waits. So of the two one sees the other. rules.go has the tables and the schedules
// that each rule is there for.
//
// An uncontended lock and unlock is one swap, a look at each S, one look at the hint, and
// one store.
//
// # Preconditions
//
// A death is exact, and known late or early: once Members.Dead says so at anybody, no store of the
// dead is still to come. Names are never used twice. The claims of a process are stored by
// that process alone.
//
// # What is not promised
//
//   - Who died between its swap and its first store has broken the lock, though nothing was
//     touched. That is on the safe side, and costs one Mend.
//   - The order of waiting writers is that of the circle, not that of coming. A hint that is
//     late or lost costs a waiter its turn, never the lock: waiters look at W again and again.
//   - Waking: who waits calls Look until it is over, spinning or sleeping as it likes.
//   - Goroutines of one process: they share one S, so their owner orders them.
//
// # Evidence
//
// The tests visit every state of small worlds: each order of single accesses of two and
// three processes, with deaths between any two accesses, notices as late as they like,
// withdrawals, and store buffers as x86 processors have them. From there all must
// end. Eight rules left out are each found (planted bugs hold-*).
//
// Reading order: memory.go, lock.go, rules.go; testdata/broken.txt and handed_on.txt.
package robustlock
