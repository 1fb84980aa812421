// Package window is the memory of one-sided windows: what a member lends to the others, how they
// come to it, and the stores that they make there.
//
// # Problem
//
// A member of a window reads and writes memory of another one that does nothing meanwhile, and that
// may be killed at any instruction, as may the one who writes. Whoever comes after them must find
// elements that somebody has written, locks that somebody can still get, and memory that is there.
//
// # How
//
// A Region is a stretch of memory that one member has made. Between processes it is a sealed file
// of memory without a name: the others open it through the descriptor of its owner, while that is
// known to be there, and look whether it is the right one (Find). From then on their mappings keep
// it, whether its owner lives or not. Goroutine ranks share the Region itself, on the Go heap,
// where the race detector sees every access.
//
// Memory of a program stays where it is (Own): its Place is told, and the kernel copies from there
// (Source).
//
// The elements of a member lie in one Region and what the members say to each other about them,
// the Control, in another: so a window that is made anew takes the elements of the old one over,
// and none of its locks.
//
//	offset in a Control          what                                            writers
//	0                            the lock's word                                 all, by one instruction
//	64                           the lock's hint                                 all
//	128                          the bell, at which the owner's goroutines sleep all, by one instruction
//	192 + 64 o                   the lock's claim of origin o;                   origin o
//	                             + 8: how many epochs o has completed here       origin o
//	then 8 o                     how many epochs the owner has posted for o      the owner
//	then 64 each                 counters of notifications                       all, by one instruction
//
// # What is promised
//
//   - A process that is killed in any of these calls leaves each element as it was or as it was to be.
//     For that a copy stores whole elements: it is never made by an instruction
//     that can be interrupted between two bytes.
//   - An atomic change happens once or not at all.
//   - Each store is a failpoint, a copy is one.
//
// # What is not promised
//
// That a Source reads whole elements while they are stored. Order between a plain copy and anything
// else, but that an atomic operation of the same goroutine comes after it. Who may still store when
// its death is known: see package engine (Watch).
package window
