// Package rankstore is memory of a node that outlives processes: each rank of a job has a home in
// it, where it keeps versions of what it protects, and whoever replaces it finds them there.
//
// # How
//
// A Memory is a sealed sparse file of memory without a name, which the daemon of the node holds
// and each process gets as a descriptor. Goroutine ranks and systems other than Linux have the same
// layout on the Go heap (Heap).
//
//	offset in the memory   what                                          who writes it
//	0                      "GULFKEEP", format, number of homes           who makes it
//	64 + 8 h               owner of home h: 1 + a process's number; 0    a process, from 0 to itself;
//	                       nobody                                        the daemon, from a dead one to 0
//	(h + 1) << 36          home h                                        its owner
//
//	offset in a home       what
//	64 i, i < 16           root i: kind, epoch, number of the version; first chunk, bytes, crc32c of its
//	                       table; crc32c of the root; sequence number, stored last
//	65536 c                chunk c, 1 <= c < 2^20: up to 64 KiB of a part, or of a table
//
// A table (table.go) lists the parts of a version, and of each 64 KiB of a part the chunk that has
// them and their crc32c. A table lies in chunks that follow each other. Versions share the chunks
// that did not change.
//
// A chunk gets its memory by a system call that writes it: so a machine that is full is an error,
// and not the end of the process (SIGBUS). Afterwards its owner has it mapped, as everybody has the
// words of the owners. Readers use calls, too, since who touches a mapped page that nobody has
// written takes memory for it.
//
// # Deaths
//
// A chunk is free when no valid root leads to it. Nobody writes down which are: an owner finds them
// by reading. What a Write stores goes into free chunks, and the sequence number of a free root is
// its last store. So a death at any store leaves each older version whole. What a process has half
// stored is free for its successor.
//
// Read at once, write after reaping: when a death is known, threads of the dead may still run for
// some microseconds, with numbers of free chunks in hand. A successor reads its home at once, since
// checksums tell what is whole. It becomes the owner, and may write, only when the daemon has
// reaped the predecessor (Memory.Release):
//
//	thread of the dead   finds chunk 7 free
//	successor            finds chunk 7 free, writes its table there, stores its root
//	thread of the dead   writes chunk 7: the successor's version is not whole
//
// # Invariants
//
//   - A version that Labels names and Read returns is bit for bit what Write was given.
//   - ReadInto compares all checksums, also of what goes nowhere.
//   - Write, Drop and Punch change nothing that another root leads to, wherever they end.
//   - Whatever the bytes of a memory are, reading neither panics nor asks for more memory than all its
//     chunks have, and one table may have (16 MiB).
//   - Each store is a failpoint.
//
// # Not promised
//
// That a home can be read from another node, or after the daemon's end. A Home is for one goroutine
// at a time.
//
// To read next: memory.go, home.go, root.go, table.go, write.go, read.go, punch.go.
package rankstore
