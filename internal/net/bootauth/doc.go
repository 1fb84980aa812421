// Package bootauth introduces the daemons of several nodes to each other when a job engine has
// started their ranks. The daemons do not know each other, and each needs the common secret of
// the job from the daemon of node 0, the coordinator. The engine's channels are authentic but in
// clear. So the daemons publish hashes of keys by these channels, and send secrets over connections
// after both ends have proved to have the keys.
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
// A listener that rejects the dialler's proof, or cannot make its own, sends "failed WHY\n" and
// closes: the user at the dialler's end has to see the fault at the listener's.
//
// There are three proofs:
//
//	           accepts as a daemon of this start                   on the wire
//	Pinned     a key on a card that the engine has passed          nothing
//	Munge      a process of the same user that names this start    a credential of MUNGE each way
//	Secret     a reader of the same file that names this start     a code (HMAC-SHA256) each way
//
// The proofs of Munge and Secret hold for one connection only: they contain the hashes of both
// keys, and the role. The dialler proves itself first. So an impostor that listens at a port of
// Ports in place of the coordinator receives a proof that is of no use elsewhere, and an impostor
// that dials receives none.
//
//	dialler                        a stranger between them          coordinator
//	key D                          key S                            key H
//	proof(dialler, D, S) ────────▶ passes it on ──────────────────▶ wants proof(dialler, S, H): no
//
// # Invariants
//
//   - Nothing but hashes of public keys, addresses and births is on a card. Private keys are
//     in memory only, and are made anew for each start.
//   - No request is read, and no answer sent, before both ends have proved themselves.
//   - All input from the other end is bounded in bytes and in time. Its texts are shown to
//     users as one line without control characters.
//   - No call waits longer than its context. Serve leaves no goroutine behind, nor a connection.
//   - An error is one line with the cause, the place, and mostly the remedy.
//
// # Not promised
//
// Any program that reaches the port can use up the coordinator's time: strangers that make a
// handshake with keys of their own and then send nothing keep the 64 places for ten seconds each.
// A request may arrive twice. Serve reports no strangers. Munge trusts munged on all nodes.
// Secret is as good as the file: each reader of the file is a member. Pinned is worth nothing if
// the cards can be changed on their way. Package internal/joblaunch/enginejob defines the
// requests and answers.
//
// Reading order of the files: card, identity, secure, proof, secret, secretfile, munge, unmunge,
// run, line, within, serve, ask, ports.
package bootauth
