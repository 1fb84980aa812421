// Package ckptset is what a checkpoint of a call is: files and values, cut into chunks that are
// named by their contents, and a manifest that is written last.
//
//	CALL/ATTEMPT/chunk-SHA256         1 MiB or less, with contents of that sum
//	CALL/ATTEMPT/manifest-NUMBER.json names, lengths and chunks of everything
//
// A checkpoint exists iff its manifest does and each chunk is there, whole. A chunk that the
// attempt has stored before is not stored again. Each attempt has a folder of its own, and
// deletes only what is in it: one that was given up wrongly and goes on does no harm.
package ckptset
