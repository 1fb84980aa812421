// Package buildid identifies the build of goulfm: one number for its wire formats, its layouts of
// shared memory and the rules that all processes of a job must apply alike.
//
// The problem. A launcher, the daemons and the ranks of a job exchange bytes and share memory. If
// two of them are of different builds, one reads fields where the other wrote something else. A
// version that a person raises by hand is forgotten: layouts changed and the versions stayed. The
// stamp of the version control system is absent from many builds, and is not that of the library
// in a user's program.
//
// The design. Build is the first four bytes of a SHA-256 of the Go sources of all packages that
// take part in a job: the closure of the imports of the public packages, the launcher and the
// daemons. The sources are hashed as tokens, without comments and line breaks, so a change of
// comments leaves Build as it is. Files for all systems and all build tags are included, so the
// tags invariants, failpoints and pausepoints leave it as it is, too. TestBuild computes the
// number again and fails if it differs from the constant in build.go; this command writes it:
//
//	go test ./internal/base/buildid -update
//
// Where builds meet. Each pair of processes is compared once, before one relies on the other's
// layouts:
//
//	dialer, child or new rank   compared by    with
//	daemon of a node            both           orders.Bootstrap, orders.Hello
//	rank, spawned or wrapped    the rank       the environment variable of package boot
//	rank, memory of the node    the rank       the header of segment 0
//	rank under a job engine     both           claim and answer (package adopt)
//	daemon under a job engine   coordinator    introduction (package adopt)
//	daemon under PMI            all daemons    the cards of package introduce
//
// Two ranks need no comparison of their own. Each has the build of its daemon, all daemons have
// the build of the launcher, and the secret without which no connection between ranks opens is
// given to nobody else.
//
// Invariant: the fields of Stamp keep their names and types in all messages that carry a build.
// So each build, past or future, reads from another one's message which build wrote it.
//
// Not promised: that two builds with different numbers could not have worked together. Four bytes
// find mistakes; they are no protection against an attacker, who may state any number.
package buildid
