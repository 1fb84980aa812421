// Package erasure makes pieces of parity out of pieces of data, and lost pieces out of
// those that are left: of d pieces of data and p of parity any p may be lost.
//
// One piece of parity is the XOR of the data. More take a Reed-Solomon code, of
// github.com/klauspost/reedsolomon, whose kernels run at several GB/s on one core.
//
// # Padding
//
// All pieces of a stripe are of one length, and the members of a group have data of
// different lengths. So each member's data count as long as the longest, rounded up to d
// parts of one length, with zeros at the end. Nobody stores the zeros: Cut makes them
// while it cuts, and what comes after a rebuilt member's length is dropped.
//
//	d = 3, data of 10 bytes, the longest has 13: parts of 5 bytes
//	part 0  ........        part 1  ........        part 2  zeros
//	        01234                   56789                   00000
//
// # Invariants
//
//   - Whichever p pieces of a stripe are lost, Rebuild makes them again, bit for bit.
//   - The code is linear: parity may be made by adding one piece of data after the other,
//     and when a piece changes by adding the XOR of old and new.
//   - Add with the pieces in any order makes what Encode makes.
//
// # Not promised
//
// A piece that is wrong, instead of lost, makes wrong pieces: who stores pieces keeps
// checksums beside them.
//
// To read next: coder.go, cut.go. Which pieces lie where: internal/ckpt/redundancy.
package erasure
