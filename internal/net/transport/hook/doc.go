// Package hook wraps a transport for tests: it counts and traces frames, and injects the faults of
// a network and of a peer. Only this package injects such faults; rules and transports have no
// branch for them.
//
// A Plan belongs to one process's transport. The caller sets its fields before New. Any goroutine
// may call its methods after New.
//
//   - Delay holds each frame back for a number of calls, not for a time, so that delays work in
//     virtual time and runs are repeatable. A call is one of TrySend, Peek, TryControl,
//     NextControl and Take.
//   - Stall answers "no room" until Release.
//   - Cut drops frames towards or from a peer until Mend.
//   - KillAt ends the process before its k-th frame.
//
// # Guarantees under every plan
//
// Frames of one pair and class keep their order. A control frame that is partly sent is sent to its
// end, so that a cut leaves whole frames behind. The hook holds at most heldMax frames per pair and
// class, and then answers "no room". While the hook holds or hides a frame, Pending is true and
// Sleep returns at once: calls move held frames, and a sleeper makes none.
//
// # Limits
//
// The hook leaves bells, credit words, the list of departures, the epoch and the word of Watch
// alone: they are memory, not frames. The word may report a frame while the plan hides the frame.
package hook
