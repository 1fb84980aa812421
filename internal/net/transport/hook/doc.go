// Package hook wraps a transport for tests: it counts and traces frames, and
// injects the faults of a network and of a peer. Faults are injected here and
// never by a branch in a rule or a transport.
//
// A Plan belongs to one process's transport. Its fields are set before New; its
// methods may be called at any time after New and from any goroutine.
//
//   - Delay holds each frame back for a number of calls, not for a time: it works
//     in virtual time, and a run can be repeated. A call is one of TrySend, Peek,
//     TryControl, NextControl and Take.
//   - Stall answers "no room" until Release.
//   - Cut drops frames towards or from a peer until Mend.
//   - KillAt ends the process before its k-th frame.
//
// # What holds under every plan
//
// The order within a pair and class. A control frame that is half sent is sent to
// its end, so that a cut leaves whole frames behind. At most heldMax frames are
// held per pair and class, then there is "no room". While something is held or
// hidden, Pending says so and Sleep returns at once: held frames move by calls,
// and who sleeps makes none.
//
// # What is not touched
//
// Bells, credit words, the list of departures, the epoch and Watch's word: they
// are memory, not frames. The word may say that a frame is there while the plan
// hides it.
package hook
