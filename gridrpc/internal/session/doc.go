// Package session has the rule of one call: it selects the server, selects another one after a
// loss, and determines the outcome. Desk is the rule of the server.
//
//	Scheduling -> Submitting -> Running -> Ended
//	    ^             |            |
//	    +-- refused --+            |
//	    +------- server lost ------+
//
// The rule repairs and completes that of Bouteiller and Desprez for DIET (Fault tolerance
// management for a hierarchical GridRPC middleware, 2008, section IV): the client observes the
// server itself, requests another one after its loss, and lets it continue from the latest
// checkpoint.
//
// # The rules
//
//   - S1 Each submission has a growing number, the attempt. A server refuses an attempt below the
//     highest one that it knows of a call. A repeated attempt is attached to, and does not run
//     twice.
//   - S2 At least once: the first result of any attempt wins, the others are cancelled. At most
//     once: after a Submit was sent only a refusal allows another attempt, because whether it was
//     accepted may be lost with its server.
//   - S3 A broken stream to a living server is dialled again, and the attempt attached to. Recovery
//     starts when a server is declared dead. It is excluded, and the newest manifest, by (attempt,
//     number), goes along: with the question, because a server near its bytes is better, and with
//     the submission.
//   - S4 A call that has lost three servers is poison. A refusal is no try.
//   - S5 An error of the body is the result.
//   - S6 The client waits for an unknown service until the tree has not changed for Patience.
//   - S7 A call that its caller gives up is cancelled at all servers.
//   - S8 A server that reports neither progress nor a checkpoint for Stall is lost.
//   - S9 A server cancels the calls of a client that has ended, unless the calls are kept. Kept
//     calls continue, and their outcome is stored. Another client can attach to a kept call. This
//     client has no argument, so it makes no further attempt: a refusal means that the call is
//     lost, and so does the loss of its server.
//   - S10 For at most a second a client calls again at a server where a short call of its own has
//     just freed a place, without a request to a master (Seats). After a refusal it asks a master.
//
// # Not promised
//
// That a body runs once, unless AtMostOnce is set: a server that was declared dead wrongly may run
// it beside its successor.
package session
