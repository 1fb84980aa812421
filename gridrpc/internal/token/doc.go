// Package token is the rules by which machines that do not see a platform's folder come into it:
// what a token says, when it may be redeemed for a certificate, and when that is renewed. It is
// pure: the time comes in, as nanoseconds of the wall clock since 1970, because what the book says
// outlives processes.
//
//   - J1: a token is redeemed by as many keys as it has uses, before its end. A key that has redeemed it may do so once
//     more, for the same name, and no use is taken: the answer may have been lost.
//   - J2: the role of a certificate is that of its token: client or server. Nobody becomes an agent or a master so.
//   - J3: a name belongs to a key until the latest certificate of that name has ended. Those of the platform's own
//     processes are never given away.
//   - J4: a certificate is renewed for the key that it was made for, before its end, unless its token was revoked.
//   - J5: certificates are renewed from half of their life on.
//   - J6: a token is remembered for a day after its end, or as long as a certificate lives that came by it.
//   - J7: who has come by a token that was revoked is listed, by its key, until its latest certificate has ended, or it has come by
//     another token: nobody has anything to do with it.
package token
