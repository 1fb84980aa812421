// Package robustlock is a lock in shared memory that survives the death of any process that holds
// the lock, waits for it, or is just being handed it. A one-sided window has one lock for each
// target: many processes read the target at a time, or one writes it.
//
// # Problem
//
// A process that is killed can leave a lock at any instruction. A lock that stores only "taken" is
// then taken for ever. A lock that passes to the next process without notice hands over data that
// are half written. Queues and tickets lose every process behind the dead one.
//
// # Promises
//
//   - An exclusive hold is alone. A share is beside other shares only.
//   - The share of a dead process is free, as soon as its death is known.
//   - A dead exclusive holder leaves the lock broken: present and later waiters get an error with
//     the holder's name. Only a process that requests the lock to mend the protected data (Mend)
//     gets it, and the release by that process makes the lock whole. If the mender dies the lock is
//     broken again.
//   - The death of a waiter, also of one that was just chosen, breaks nothing and blocks no
//     process.
//   - A waiter may give up at any moment.
//   - No process starves. Writers are served in a circle, waiting readers before the next writer,
//     and readers that come later wait for a writer that was handed the lock.
//
// # Design
//
// One word, W, names the process that holds the lock exclusively or has just been handed it, by a
// name that is never used twice. Broken is not a stored state: it is "W names a dead process", so
// no death can lose it. Each process has a word of its own, S, for its request: Sharing, Reading
// (it waits for a share), Claiming, or nothing. There is no list of readers to repair, and no count
// of them.
//
//	W      means
//	0      free
//	F      free, but readers wait: a writer lets them in first
//	h      held by h; broken, if h is dead
//	h+H    handed to h, which has not taken it yet
//
// A writer swaps W from 0 to its name, then waits until no living process's S is Sharing. A reader
// sets its S to Sharing, makes a fence, and reads W: it has its share, or it retreats and waits. So
// at least one of the two sees the other. rules.go has the tables, and for each rule the schedule
// that requires it.
//
// An uncontended lock and unlock is one swap, one load of each S, one load of the hint, and one
// store.
//
// # Preconditions
//
// A death is exact, and known late or early: once Members.Dead returns true at any process, no
// store of the dead is still to come. Names are never used twice. The claims of a process are
// stored by that process alone.
//
// # Not promised
//
//   - A process that died between its swap and its first store has broken the lock, although the
//     data are intact. That is on the safe side, and costs one Mend.
//   - The order of waiting writers is that of the circle, not that of arrival. A hint that is late
//     or lost costs a waiter its place in the order, never the lock: waiters poll W.
//   - Waking: a waiter calls Look until its wait is over, and spins or sleeps between the calls.
//   - Goroutines of one process: they share one S, so their owner orders them.
//
// # Evidence
//
// The tests visit every state of small worlds: each order of single accesses of two to four
// processes, with deaths between any two accesses, notices of deaths with any delay, withdrawals,
// and store buffers as x86 processors have them. From there all calls must end. The tests find each
// of nine omitted rules (planted bugs hold-*).
//
// Reading order: memory.go, lock.go, rules.go; testdata/broken.txt and handed_on.txt.
package robustlock
