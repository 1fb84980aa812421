// Package session keeps one lane between two processes alive over connections that
// break. A lane is a stream of counted bytes in each direction; the machine here decides
// who dials, which of two connections counts, from which byte a sender goes on after a
// reconnect, what a sender may forget, and when both ends may close. It moves no byte
// itself: the host (a transport) owns the sockets and the buffers.
//
// # The problem
//
// TCP's acknowledgement says that the peer's kernel has some bytes, not that the peer's
// process will ever see them. When a connection breaks, the sender cannot tell which
// bytes arrived. So both sides count:
//
//	sender                                     receiver
//	0 ....... acked ........ queued            0 ....... taken ........ received
//	  may be     kept until                      handed to    here, not yet
//	  forgotten  acknowledged                    the engine   handed on
//
// acked <= taken <= received <= queued. A new connection begins with a Hello in each
// direction, which says received; the peer's host then writes from that byte on. A
// receiver gets the bytes that it lacks, and none that it has.
//
// Acknowledgements, bye and bye-ack are outside of the count: each may be repeated or
// lost without harm, because acknowledgements only ever state a total, and a bye is
// answered every time.
//
// # States
//
//	idle      nobody has wanted the lane yet
//	dialing   a dial of this process is under way
//	shaking   it is connected, and the peer has not answered the Hello
//	open      the lane works
//	broken    no connection; the next dial waits for its time
//	closed    both have said goodbye, or the peer is gone
//
//	idle ──Want, Append──▶ dialing ──Dialed──▶ shaking ──ok──▶ open ──bye, bye-ack──▶ closed
//	                        ▲    │                │             │
//	                  time  │    └──DialFailed────┴──Broke──────┤
//	                        └───────── broken ◀─────────────────┘
//	idle ──Asked──▶ dialing
//	idle, broken, dialing, shaking, open ──Incoming, accepted──▶ open
//
// # Simultaneous open
//
// Both ends may dial at once. The attempt of the process with the lower number wins: it
// answers busy to the other one's Hello while its own attempt is under way, and the
// higher number drops its own attempt for the lower one's Hello. That alone would keep
// a pair apart of which only the higher number can dial (a firewall), so the lower number
// is busy only for BusyFor after the lane lost its connection.
//
// # One-way roads
//
// An end dials a lane only if it wants it, and of two processes only one may be able to dial. A
// process that has wanted a lane for ComplainAfter, and got no connection, asks its peer to dial,
// by way of the daemons and the launcher. The peer dials although it wants nothing. So one
// direction in which connections can be made is enough.
//
// # Invariants
//
//   - At most one connection is open, and at most one attempt of this process is under way.
//   - Every byte of a stream is received exactly once and in order while both live (I19):
//     a host that accepts bytes of the open connection alone, and writes from the byte that
//     Opened names, needs nothing else.
//   - Nothing is released before the peer's engine took it.
//   - When both want to close and connections can be made, both end closed, and each was
//     acknowledged every byte.
//   - A stale Hello, a stale acknowledgement, or an event of a connection that does not
//     count any more changes nothing.
//
// # Not promised
//
// Whether the peer lives is not decided here: Unreachable is a complaint, never a death.
// A pair of which neither can dial waits for ever, unless the host says Gone. A pair whose round
// trip is longer than BusyFor may take many attempts to meet. Identity is checked against
// the Config; that a Hello was written by a member of the job at all is for the channel
// below it to prove (TLS or a challenge).
//
// Reading order: event.go, hello.go, session.go, shake.go, stream.go, goodbye.go; then
// the scripts in testdata.
package session
