// Package token has the rules by which a platform admits machines that do not see its folder: the
// content of a token, its redemption for a certificate, and the renewal of certificates. The
// package is pure. Times are arguments, in nanoseconds of the wall clock since 1970, because the
// book outlives processes.
//
//   - J1: a token is redeemed by as many keys as it has uses, before its end. A key that has
//     redeemed the token may do so again for the same name, because the answer may have been lost.
//     This takes no further use.
//   - J2: the role of a certificate is that of its token: client or server. No token makes an agent
//     or a master.
//   - J3: a name belongs to a key until the latest certificate of that name has ended. The names of
//     the platform's own processes are never given to a member.
//   - J4: a certificate is renewed before its end, for the same key, unless its token was revoked.
//   - J5: certificates are renewed from half of their lifetime on.
//   - J6: a token is remembered until a day after its end, and as long as a certificate of it is
//     valid.
//   - J7: the key of a member that a revoked token admitted is listed until its latest certificate
//     has ended, or until another token has admitted the key. No process keeps a connection to it.
package token
