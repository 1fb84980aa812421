// Package join admits machines that do not see the folder of a platform. It hosts internal/token.
//
// The Desk at a master reads the book of tokens from the platform's folder, applies the rules, and
// signs. The book is a file that is locked during a change, so that "gridrpc token" and each master
// can change it: the Raft group of masters agrees on the root only, and holds no data. Write access
// to the folder permits making tokens; no certificate does.
//
// Enter is the side of the machine. It makes a key, which never leaves the machine, and sends the
// public key to a master for a signature. The master must first prove that it belongs to the
// platform whose hash is in the token. The machine stores the result in a folder of its own (the
// home). For the rest of this module the home is a folder of a platform with one identity.
package join
