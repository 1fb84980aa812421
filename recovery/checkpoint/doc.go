// Package checkpoint is where versions outlive a job: stores of files, and what is in them.
//
// While a job runs, its versions are in the memory of its nodes, which survives processes
// and, with copies, nodes. A checkpoint survives the job. One version is a folder of keys:
//
//	JOB-EPOCH-NUMBER/rank-0.gck        what rank 0 protected
//	JOB-EPOCH-NUMBER/rank-1.gck
//	JOB-EPOCH-NUMBER/manifest.json     names, lengths and checksums of the others
//
// The manifest is written last and deleted first: a version exists iff its manifest does.
// List tells which versions a store has and whether they are whole, Verify reads all bytes
// of one of them, Remove deletes one.
//
// A Store keeps named files. Dir keeps them in a folder that all nodes see; a store of
// another kind, such as a bucket of objects, implements the same five rules and belongs
// into a module of its own. One that knows on which machines its files are is a Locator, too, and
// one that has one job at a time write under a name is a Locker, as Dir is.
//
// # What a store promises
//
//   - After Put has returned nil the whole file is there, also after a loss of power; if it
//     returns an error, or its process dies, there is what was there before: nothing, or
//     the former file. Readers never see a part.
//   - Get of what is not there is fs.ErrNotExist.
//   - List sees every file whose Put has returned before, once.
//   - Delete of what is not there is no error.
//   - All of them may be called at the same time by many processes.
//
// # Not promised
//
// Two processes that Put one key at the same time both succeed, and one of the files
// remains. Ranks write keys of their own, and the epoch in a key is another one in each
// attempt, so a process that was declared dead and goes on writing does no harm.
package checkpoint
