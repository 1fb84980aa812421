// Package erasure computes pieces of parity from pieces of data, and lost pieces from the remaining
// ones: of d pieces of data and p of parity any p may be lost.
//
// One piece of parity is the XOR of the data. More pieces use a Reed-Solomon code, of
// github.com/klauspost/reedsolomon, whose kernels run at several GB/s on one core.
//
// # Padding
//
// All pieces of a stripe have one length, and the members of a group have data of different
// lengths. So each member's data count as long as the longest, rounded up to d parts of one length,
// with zeros at the end. No member stores the zeros: Cut appends them while it cuts, and Paste
// drops the bytes beyond a rebuilt member's length.
//
//	d = 3, data of 10 bytes, the longest has 13: parts of 5 bytes
//	part 0  ........        part 1  ........        part 2  zeros
//	        01234                   56789                   00000
//
// # Invariants
//
//   - Whichever p pieces of a stripe are lost, Rebuild restores them bit for bit.
//   - The code is linear: parity may be computed by adding one piece of data after the other.
//     When a piece changes, the XOR of the old and the new piece is added.
//   - Add with the pieces in any order gives the parity of Encode.
//
// # Not promised
//
// Detection of wrong pieces. A piece that is wrong, instead of lost, gives wrong pieces: the owner
// of pieces keeps checksums beside them.
//
// To read next: coder.go, cut.go. The placement of pieces: internal/ckpt/redundancy.
package erasure
