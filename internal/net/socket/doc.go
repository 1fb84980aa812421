// Package socket makes connections between the members of one job over TCP, and proves to each
// end that the other one is a member. What a connection is for stands in what is said over it
// afterwards (a session's hello, or a daemon's): here a stranger is told from a member, and
// nothing else.
//
// # Trust
//
// A job has a secret of 32 bytes, which its members are given over descriptors, never in
// arguments or the environment. Whoever knows it is a member: members have one user and trust
// each other.
//
//	dialer                                         listener
//	preamble, 32 bytes            ──────────────▶  looks at its code: a stranger is closed
//	                                               without a byte
//	                              ◀──────────────  challenge, 16 bytes; proof, 32 bytes
//	looks at the proof
//	proof, 32 bytes               ──────────────▶  looks at it: a member
//
// Each proof is a code over the preamble and the challenge. One that was recorded is worth
// nothing: the dialer's nonce and the listener's challenge are drawn anew each time. A recorded
// preamble is let in as far as the challenge, and no further. That is mode Auth: what is said
// afterwards is clear.
//
// In mode TLS a TLS 1.3 handshake follows the preamble instead. Both ends show a certificate of
// one Ed25519 key, which follows from the secret, and each compares the other's with its own:
// there is no authority. Everything afterwards is encrypted.
//
// The preamble, numbers least significant byte first:
//
//	 0  "goulfm/1"
//	 8  version  u16
//	10  mode     u16   1: auth; 2: tls
//	12  nonce    u32
//	16  code     16 bytes of HMAC-SHA256 over job, the listener's birth, and bytes 0 to 15
//
// # Who blocks
//
// A Conn is a stream as others are, for goroutines. Who polls takes the socket out of it (Detach),
// and encrypts in the calling thread (Secure). Serve is the listener's side, with bounds for what
// strangers may cost.
//
// Reading order: trust.go, mode.go, secure.go, conn.go, duct.go, serve.go, lasting.go.
package socket
