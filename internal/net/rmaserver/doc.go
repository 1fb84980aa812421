// Package rmaserver is what the owner of a window's memory does for members that cannot reach it:
// they send frames, it executes them one after the other, and answers.
//
// # Problem
//
// Members on other nodes, and all members where everything goes by messages, share no memory with
// the owner. Their operations must mean the same as those of members that do: elements are stored
// whole, atomic operations are atomic with everybody's, a lock is one lock for all, and after a
// death each operation has happened once or not at all.
//
// # How
//
// A Frame is one operation of one origin. The transport delivers frames of an origin in the order
// in which they were sent, each once, as long as both live. A Target executes each when it comes:
//
//	put, store, accumulate, notify     no answer
//	get, load, fetch, compare-and-swap what was there
//	flush                              an answer when it is reached: all before it took effect
//	lock                               an answer when it is held, or broken
//	unlock                             an answer, if one is wanted
//	withdraw                           no answer: the origin gave up before the answer of its lock. A
//	                                   lock that was granted meanwhile goes back, broken if it was
//	posted, completed                  counts for Start and WaitPosted
//
// So whatever an origin sends takes effect after all that it has sent before (P1), and a flush
// needs no list. A Target has one hold.Lock for each origin that has asked, in the same memory as
// the members that reach it themselves: it makes an origin's steps as that origin would. If the
// target dies the lock is gone with it; if the origin dies the others see in the lock's words what
// they would see of any member.
//
// # What is not promised
//
// Order between origins. That the frame of an origin that has died is dropped: it is for the host
// to stop delivering once the death is known (W7).
package rmaserver
