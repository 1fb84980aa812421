// Package session keeps one lane between two processes alive over connections that break. A lane is
// a stream of counted bytes in each direction. The state machine of this package decides which end
// dials, which of two connections counts, from which byte a sender resumes after a reconnect, which
// bytes a sender may forget, and when both ends may close. The machine moves no byte itself: the
// host (a transport) owns the sockets and the buffers.
//
// # The problem
//
// TCP's acknowledgement means that the peer's kernel has some bytes, not that the peer's process
// will ever see them. When a connection breaks, the sender does not know which bytes arrived. So
// both sides count:
//
//	sender                                     receiver
//	0 ....... acked ........ queued            0 ....... taken ........ received
//	  may be     kept until                      handed to    here, not yet
//	  forgotten  acknowledged                    the engine   handed on
//
// acked <= taken <= received <= queued. A new connection begins with a Hello in each direction,
// which carries received. The peer's host then writes from that byte on. A receiver gets the bytes
// that are missing, and no byte twice.
//
// Acknowledgements, bye and bye-ack are outside of the count: each may be repeated or
// lost without harm, because acknowledgements only ever state a total, and a bye is
// answered every time.
//
// # States
//
//	idle      the lane has not been used yet
//	dialing   a dial of this process is under way
//	shaking   it is connected, and the peer has not answered the Hello
//	open      the lane works
//	broken    no connection; the next dial waits for its time
//	closed    both ends have said goodbye, or the peer has ended
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
// Both ends may dial at once. The attempt of the process with the lower number wins. While its own
// attempt is under way, the lower number answers busy to the peer's Hello. The higher number drops
// its own attempt when it receives the lower number's Hello. This rule alone would keep a pair
// apart if only the higher number can dial (a firewall). So the lower number answers busy only for
// BusyFor after the lane lost its connection.
//
// # One-way roads
//
// An end dials a lane only if its host needs the lane, and perhaps only one of the two processes is
// able to dial. A process that has needed a lane for ComplainAfter, and got no connection, asks its
// peer to dial; the request travels through the daemons and the launcher. The peer dials even if it
// has nothing to send. So one direction in which connections can be made is enough.
//
// # Invariants
//
//   - At most one connection is open, and at most one attempt of this process is under way.
//   - Every byte of a stream is received exactly once and in order while both live (I19): the host
//     only has to accept bytes of the open connection alone, and to write from the byte that Opened
//     names.
//   - Nothing is released before the peer's engine took it.
//   - When both ends close and connections can be made, both reach closed with every byte
//     acknowledged.
//   - A stale Hello, a stale acknowledgement, or an event of a connection that does not
//     count any more changes nothing.
//
// # Not promised
//
// The session does not decide whether the peer is alive: Unreachable is a complaint, never a death.
// If neither end can dial, both wait for ever, unless the host reports the end of the peer. A pair
// whose round trip is longer than BusyFor may take many attempts to meet. Identity is checked
// against the Config. The channel below (TLS or a challenge) must prove that a Hello was written by
// a member of the job.
//
// Reading order: event.go, hello.go, session.go, shake.go, stream.go, goodbye.go; then
// the scripts in testdata.
package session
