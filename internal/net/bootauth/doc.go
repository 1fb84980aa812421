// Package bootauth introduces daemons of several nodes to each other whose ranks a job engine has
// started. They do not know each other, and are to get a common secret from the daemon of node 0,
// the coordinator. The engine's channels are of little help: what goes over them is authentic, but
// in clear. So hashes of keys go there, and what is secret goes over connections whose ends have
// shown to have those keys.
//
//	daemon of node 3                                    daemon of node 0, the coordinator
//	NewIdentity                                         NewIdentity
//	Card.Text ──▶ the engine: in clear, all can read ◀── Card.Text, or the first free one of Ports
//	Ask                                                 Serve
//	connect ──────────────────────────────────────────▶ accept: one of 64 strangers
//	TLS 1.3, both show a certificate ◀────────────────▶ both know the hash of the other's key
//	Proof.Check ◀─────────────────────────────────────▶ Proof.Check: is that a daemon of this start?
//	"REQUEST\n" ──────────────────────────────────────▶ no stranger any more: answer(REQUEST)
//	                              ◀──────────────────── "answer TEXT\n", or "refused WHY\n"
//	close                                               close
//
// A listener that is not content with the dialler's proof, or cannot make its own, says "failed
// WHY\n" and closes: a person at the dialler's end has to see what is wrong at the listener's.
//
// There are three proofs:
//
//	           who is a daemon of this start                       on the wire
//	Pinned     whose key is on a card that the engine has passed   nothing
//	Munge      who runs as the same user and names this start      a credential of MUNGE each way
//	Secret     who can read the same file and names this start     a code (HMAC-SHA256) each way
//
// What Munge and Secret prove holds for one connection only: the hashes of both keys are in it,
// and the role. The dialler is the first to prove itself. So one who listens at a port of
// Ports in the coordinator's stead gets a proof that it cannot use, and one who dials gets none.
//
//	dialler                        a stranger between them          coordinator
//	key D                          key S                            key H
//	proof(dialler, D, S) ────────▶ passes it on ──────────────────▶ wants proof(dialler, S, H): no
//
// # Invariants
//
//   - Nothing but hashes of public keys, addresses and births is on a card. Private keys are in
//     memory only, and are made anew for each start.
//   - No request is heard, and no answer given, before both ends have proved themselves.
//   - Nothing is taken from the other end without a bound in bytes and in time. What it says of
//     itself is shown to people as one line without control characters.
//   - Nothing waits longer than its context. Serve leaves no goroutine behind, nor a connection.
//   - An error is one line that says what happened, where, and mostly what to do.
//
// # Not promised
//
// Whoever reaches the port can use up the coordinator's time: strangers who make a handshake with
// keys of their own and then say nothing keep the 64 places for ten seconds each. A request may be
// heard twice. Serve tells nobody of strangers. Munge believes munged on all nodes; Secret is as
// good as the file: whoever reads it is a member. Cards that somebody could change on their way are
// worth nothing to Pinned. What the requests and answers mean is internal/joblaunch/enginejob's.
//
// Reading order: card.go, identity.go, secure.go, proof.go, secret.go, secretfile.go, munge.go,
// unmunge.go, run.go, line.go, within.go, serve.go, ask.go, ports.go.
package bootauth
