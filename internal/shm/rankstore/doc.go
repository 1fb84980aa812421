// Package rankstore implements memory of a node that outlives processes. Each rank of a job has a
// home there and keeps versions of its protected data in it. A process that replaces the rank finds
// the versions in the home.
//
// # How
//
// A Memory is a sealed sparse memory file without a name. The daemon of the node holds the file,
// and each process gets a descriptor. Goroutine ranks and systems other than Linux have the same
// layout on the Go heap (Heap).
//
//	offset in the memory   content                                  writer
//	0                      "GULFKEEP", format, number of homes      the creator
//	64 + 8 h               owner of home h: 1 + a process's number; a process, from 0 to itself and
//	                       0: none                                  back; the daemon, from a dead
//	                                                                process to 0
//	(h + 1) << 36          home h                                   its owner
//
//	offset in a home       content
//	64 i, i < 16           root i: kind, epoch, number, rank of the version; first chunk, bytes,
//	                       crc32c of its table; crc32c of the root; sequence number, stored last
//	65536 c                chunk c, 1 <= c < 2^20: up to 64 KiB of a part, or of a table
//
// A table (table.go) lists the parts of a version, and for each 64 KiB of a part the chunk that
// holds them and their crc32c. A table lies in consecutive chunks. Versions share the chunks that
// did not change.
//
// A chunk gets its memory by a system call that writes the chunk. So a machine without free memory
// causes an error instead of the end of the process (SIGBUS). Afterwards the owner has the chunk
// mapped; all processes have the words of the owners mapped. Readers use system calls, too, because
// a read of a mapped page that was never written would allocate memory for the page.
//
// # Deaths
//
// A chunk is free when no valid root leads to it. There is no list of free chunks: an owner finds
// them by reading. A Write stores only into free chunks, and its last store is the sequence number
// of a free root. So a death at any store leaves each older version whole. The chunks of an
// incomplete Write are free for the successor.
//
// Read at once, write after reaping: when a death is known, threads of the dead process may still
// run for some microseconds, and may have chosen free chunks. A successor reads its home at once,
// because checksums show which versions are whole. The successor becomes the owner, and may write,
// only when the daemon has reaped the predecessor (Memory.Release):
//
//	thread of the dead   finds chunk 7 free
//	successor            finds chunk 7 free, writes its table there, stores its root
//	thread of the dead   writes chunk 7: the successor's version is not whole
//
// # Invariants
//
//   - A version that Labels names and Read returns is bit for bit equal to the parts given to
//     Write.
//   - ReadInto compares all checksums, also of parts that are not returned.
//   - Write, Drop and Punch change no chunk of another root, even if they end at any store.
//   - For any contents of a memory, reading neither panics nor allocates more memory than all its
//     chunks have, plus one table (16 MiB).
//   - Each store is a failpoint.
//
// # Not promised
//
// A home cannot be read from another node, nor after the daemon's end. Only one goroutine at a time
// may use a Home.
//
// Reading order: memory.go, home.go, root.go, table.go, write.go, read.go, punch.go.
package rankstore
