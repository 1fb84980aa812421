// Package rmaserver serves the memory of a window to members that cannot reach it: they send
// frames to the owner, which executes the frames one after the other, and answers.
//
// # Problem
//
// Members on other nodes share no memory with the owner, and neither do any members if the job
// communicates by messages only. Their operations must mean the same as those of members that
// share memory: elements are stored whole, atomic operations are atomic with those of all
// members, a lock is one lock for all, and after a death each operation has happened once or not
// at all.
//
// # How
//
// A Frame is one operation of one origin. The transport delivers the frames of an origin in the
// order of their sends, each once, as long as both live. A Target executes each frame when it
// arrives:
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
// So each frame of an origin takes effect after all earlier frames of that origin (P1), and a
// flush needs no list. A Target has one Locker for each origin that has asked, in the same
// memory as the members that reach the lock directly: the Target makes an origin's steps as that
// origin would. If the target dies, the lock dies with it. If the origin dies, the others see in
// the lock's words the same state as after the death of any member.
//
// # What is not promised
//
// Order between origins. That the frame of an origin that has died is dropped: the host has to
// stop delivery once the death is known (W7).
package rmaserver
