// Package ckptfile implements the format of checkpoints in files: the protected data of one rank in
// one version, and the manifest that combines the files of all ranks into a version.
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
//	                          4  crc32c of these three numbers and of the stored bytes
//	                             the stored bytes
//	        index             4  crc32c of all before the first chunk
//	                          8  offset of each chunk
//	                          4  crc32c of the index so far
//	8       offset of the index
//	8       "GULFMCK1"
//
// The data are those of all members, one after the other, cut into chunks of one length. Each byte
// of the file is covered by a checksum or has only one valid value. Part of a member is read
// without the rest.
//
// # Invariants
//
//   - A file is there whole or not at all, also after a loss of power: it is written under
//     another name, synced, renamed, and the folder is synced (WriteFile).
//   - A version exists iff its manifest does. The manifest is written after all files.
//   - Reading does not panic, for any bytes of a file. The error distinguishes a foreign file,
//     another format, a torn file and a corrupt one. With any byte changed, Open or Verify
//     returns an error.
//   - No buffer is longer than the file or a chunk. A head is decoded only after its checksum was
//     compared. Decoding it allocates at most 20 times its length, garbage included, also if
//     the head was made for this purpose and has a correct checksum (decode.go).
//
// # Not promised
//
// The format does not protect against a person with write access, because that person can change a
// file and its checksums. For that reason a folder that others may write to is refused. A manifest
// with a correct checksum is decoded before the number of its files is checked.
//
// To read next: head.go, writer.go, reader.go, decode.go, manifest.go, folder.go.
package ckptfile
