// Package checkpoint provides storage for versions that outlive a job: stores of files, and the
// layout of versions in a store.
//
// While a job runs, its versions are in the memory of its nodes, which survives processes and, with
// copies, nodes. A checkpoint survives the job. One version is a folder of keys:
//
//	JOB-EPOCH-NUMBER/rank-0.gck        what rank 0 protected
//	JOB-EPOCH-NUMBER/rank-1.gck
//	JOB-EPOCH-NUMBER/manifest.json     names, lengths and checksums of the others
//
// The manifest is written last and deleted first: a version exists iff its manifest does. List
// returns the versions of a store and whether they are complete, Verify reads all bytes of one
// version, Remove deletes one.
//
// A Store keeps named files. Dir keeps them in a folder that all nodes see; a store of another
// kind, such as a bucket of objects, implements the same five rules and belongs in a module of its
// own. A store that knows the machines of its files is also a Locator, and a store that excludes
// concurrent writers of one name is also a Locker, as Dir is.
//
// # Promises of a store
//
//   - After Put has returned nil the whole file exists, also after a loss of power. If Put returns
//     an error, or its process dies, the former state remains: no file, or the former file. Readers
//     never see a part of a file.
//   - Get of a missing file returns fs.ErrNotExist.
//   - List returns every file whose Put has returned before, once.
//   - Delete of a missing file is no error.
//   - Many processes may call all of these at the same time.
//
// # Not promised
//
// If two processes Put one key at the same time, both succeed and one of the files remains. Ranks
// write their own keys, and each attempt has another epoch in its keys. A process that was declared
// dead and still writes therefore does no harm.
package checkpoint
