// Package window implements the memory of one-sided windows: the memory that a member lends to the
// others, the access of the others to this memory, and their stores.
//
// # Problem
//
// A member of a window reads and writes memory of another member that takes no part in the
// operation. Both may be killed at any instruction. A later member must find elements that a member
// has written, locks that can still be acquired, and memory that still exists.
//
// # How
//
// A Region is a range of memory that one member has made. Between processes a Region is a sealed
// memory file without a name. The others open the file through the descriptor of its owner, while
// the owner is known to be alive, and check that it is the right file (Find). From then on their
// mappings keep the memory, even if the owner ends. Goroutine ranks share the Region itself, on the
// Go heap, where the race detector sees every access.
//
// Memory of a program stays in place (Own): the owner publishes its Place, and the kernel copies
// from there (Source).
//
// The elements of a member lie in one Region, and their Control, the state with which the members
// synchronize access, in another. So a rebuilt window takes over the elements of the old window,
// but none of its locks.
//
//	offset in a Control          content                                     writers
//	0                            the lock's word                             all, by one instruction
//	64                           the lock's hint                             all
//	128                          the bell, on which the owner's goroutines   all, by one instruction
//	                             sleep
//	192 + 64 o                   the lock's claim of origin o;               origin o
//	                             + 8: number of epochs that o has completed  origin o
//	                             here
//	then 8 o                     number of epochs that the owner has posted  the owner
//	                             for o
//	then 64 each                 counters of notifications                   all, by one instruction
//	at the end 64 each, if       locks of stripes                            all, by one instruction;
//	striped                                                                  the holder
//
// # What is promised
//
//   - A process that is killed in any of these calls leaves each element with its old or its new
//     value. So a copy stores whole elements, and never uses an instruction that can be interrupted
//     between two bytes.
//   - An atomic change happens once or not at all.
//   - Each store is a failpoint, and so is each copy.
//
// # What is not promised
//
// A Source may read half-stored elements. A plain copy has no order with other operations, except
// that an atomic operation of the same goroutine comes after an earlier copy. A dead process may
// still store when its death is known: see package engine (Watch).
package window
