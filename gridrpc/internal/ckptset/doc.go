// Package ckptset stores the checkpoints of a call. A checkpoint consists of files and values, cut
// into chunks that are named by their contents, and of a manifest that is written last.
//
//	CALL/ATTEMPT/chunk-SHA256         at most 1 MiB, with contents of that sum
//	CALL/ATTEMPT/manifest-NUMBER.json names, lengths and chunks of all files and values
//
// A checkpoint exists iff its manifest exists and each chunk is complete. A chunk that the attempt
// has stored before is not stored again. Each attempt has its own folder and deletes only files
// there. So an attempt that was given up wrongly, and continues, does no harm.
package ckptset
