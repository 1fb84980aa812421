// Package ckptfile is the format of checkpoints in files: what one rank protects, in one
// version, and the manifest that makes the files of all ranks a version.
//
//	JOB-EPOCH-NUMBER/rank-R.gck        JOB-EPOCH-NUMBER/manifest.json
//
//	bytes   a file of a rank; numbers are little-endian
//	8       "GULFMCK1"
//	4       format, 1
//	4       length of the head
//	        head: JSON, see Head
//	        chunks, each      4  bytes stored
//	                          4  bytes of data
//	                          4  codec: 0 none, 1 zstd
//	                          4  crc32c of these three numbers and of what is stored
//	                             what is stored
//	        index             4  crc32c of all before the first chunk
//	                          8  offset of each chunk
//	                          4  crc32c of the index so far
//	8       offset of the index
//	8       "GULFMCK1"
//
// The data are those of all members, one after the other, cut into chunks of one length.
// So each byte of the file is covered by a checksum or has one value only, and part of a
// member is read without the rest.
//
// # Invariants
//
//   - A file is there whole or not at all, also after a loss of power: it is written under
//     another name, synced, renamed, and the folder is synced (WriteFile).
//   - A version exists iff its manifest does, which is written when all files are.
//   - Whatever the bytes of a file are, reading neither panics nor allocates more than the
//     file is long and a chunk; an error says whether the file is foreign, torn or corrupt.
//     With any byte changed Verify returns an error.
//
// # Not promised
//
// Protection from somebody who changes a file and its checksums: folders that others may
// write to are refused for that.
//
// To read next: head.go, writer.go, reader.go, manifest.go, folder.go.
package ckptfile
