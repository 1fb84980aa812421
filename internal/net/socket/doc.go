// Package socket makes TCP connections between the members of one job. Each end proves to the other
// that it is a member. The package does not know the purpose of a connection; the first message
// after the handshake names it (a session's hello, or a daemon's).
//
// # Trust
//
// A job has a secret of 32 bytes. Its members receive the secret over descriptors, never in
// arguments or the environment. Every process that knows the secret is a member: members have one
// user and trust each other.
//
//	dialer                                         listener
//	preamble, 32 bytes            ──────────────▶  checks its code: closes a stranger
//	                                               without a byte
//	                              ◀──────────────  challenge, 16 bytes; proof, 32 bytes
//	checks the proof
//	proof, 32 bytes               ──────────────▶  checks the proof: a member
//
// Each proof is a code over the preamble and the challenge. A recorded proof is useless: the dialer
// draws a new nonce and the listener a new challenge for each handshake. A recorded preamble passes
// its check, but the handshake fails at the challenge. This is mode Auth: everything after the
// handshake is unencrypted.
//
// In mode TLS a TLS 1.3 handshake follows the preamble instead. Both ends present a certificate of
// one Ed25519 key, which is derived from the secret. Each end compares the peer's key with its own;
// there is no authority. Everything after the handshake is encrypted.
//
// The preamble, with little-endian numbers:
//
//	 0  "goulfm/1"
//	 8  version  u16
//	10  mode     u16   1: auth; 2: tls
//	12  nonce    u32
//	16  code     16 bytes of HMAC-SHA256 over job, the listener's birth, and bytes 0 to 15
//
// # Blocking
//
// A Conn is an ordinary stream for goroutines. A caller that polls extracts its socket (Detach) and
// encrypts in the calling thread (Secure). Serve is the listener's side. It bounds the resources
// that strangers can use.
//
// Reading order: trust.go, mode.go, secure.go, conn.go, duct.go, serve.go, lasting.go.
package socket
