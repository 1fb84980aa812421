// Package session is the rule of one call: which server gets it, when another one does, and
// what its outcome is. Desk is the rule of the server that gets it.
//
//	Scheduling -> Submitting -> Running -> Ended
//	    ^             |            |
//	    +-- refused --+            |
//	    +------- server lost ------+
//
// It repairs and completes what Bouteiller and Desprez describe for DIET (Fault tolerance
// management for a hierarchical GridRPC middleware, 2008, section IV): the client watches
// the server itself, asks for another one, and has it go on from the latest checkpoint.
//
// # The rules
//
//   - S1 Each submission has a number that grows: its attempt. A server refuses an attempt
//     below the highest that it has seen of a call; the same one again is attached to, and
//     not run twice.
//   - S2 At least once: the first result of any attempt wins, the others are cancelled. At
//     most once: after a Submit was sent only a refusal allows another attempt, because
//     whether it was accepted may be lost with its server.
//   - S3 A broken stream to a living server is dialled again, and the attempt attached to.
//     Recovery starts when a server is declared dead. It is excluded, and the newest
//     manifest, by (attempt, number), goes along: with the question, because a server near its
//     bytes is better, and with the submission.
//   - S4 Three servers lost under one call: the call is poison. A refusal is no try.
//   - S5 An error of the body is the result.
//   - S6 A service that nobody knows is waited for until the tree has not changed for
//     Patience.
//   - S7 A call that is given up is cancelled everywhere.
//   - S8 A server that reports neither progress nor a checkpoint for Stall is lost.
//   - S9 A server cancels the calls of a client that is gone, unless they are to be kept: then
//     they go on, and their outcome is held. Another client attaches to a kept call. It has no
//     argument, so there is no other attempt: a refusal means that the call is gone, and the
//     loss of its server is the end.
//   - S10 A client calls again where a short call of its own has just left a place, without
//     asking a master, for a second at most (Seats). Who is refused there asks.
//
// # Not promised
//
// That a body runs once, unless AtMostOnce is set: a server that was declared dead wrongly
// may run it beside its successor.
package session
