// Package repairs simulates jobs whose ranks die and are replaced, in virtual time.
//
// # Problem
//
// A second death while ranks restore, a late notice or a torn file meet in schedules that no test
// of real processes repeats. Here a run is a function of its Options: equal options give an equal
// trace hash.
//
// # How a run works
//
// Each process hosts the rules of a world that outlives its processes (package repair), on top of
// the control rules. The launcher hosts the rules of package job, which give processes their slots.
// Deaths are exact, and agreements use messages. In half of the runs nodes have memory that
// outlives processes and is lost with the node. In others versions are written to files. A job is
// started again from them, possibly with another number of ranks, when all processes have died or
// stopped. In some runs data of one process change unseen.
//
// # Invariants
//
// check.go lists V1 to V14. losses.go decides when a loss excuses a violation.
//
// # Shared with package recovery
//
// Decisions are those of package repair, which both hosts call: the rules of a world, of files
// (Archive), of static and forward members (Stock), of replays (Replays), and of the data of one
// process (holding.go: reports, placements, stale parts, homes to read). Layouts and plans are
// those of package redundancy.
//
// # Differences from package recovery
//
// Package recovery is written for one goroutine for each process, which blocks in calls of comm.
// Here all processes share one goroutine, and each waiting call is a function that runs later. This
// package therefore has its own version of these files:
//
//	here       recovery             difference
//	drive.go   run.go, attempt.go   actions are executed by callbacks; there are no contexts, and a
//	                                revocation cancels the attempt in a later event
//	calls.go   calls.go             calls are events of the control rules; a Replace is answered by
//	                                the launcher of job.go
//	store.go   memory.go            a part is a few numbers, whose sum identifies its rank; buffers
//	                                are not reused
//	data.go    store.go,            every transfer is a move of a whole part; there are no frames,
//	           transfer.go          and static members are sent again
//	data.go    parity.go            a share keeps the parts of its group, in place of coded pieces:
//	                                package erasure is not used
//	data.go    deal.go              in a world of another size each rank gets all parts, in place of
//	                                elements
//	memory.go  home.go,             a home is a list of parts; there are no chunks, checksums or
//	           heritage.go, kept.go owners, and a store is atomic
//	own.go     own.go, transfer.go  a saving is a count; a keeper answers in the event of its
//	                                arrival, without a goroutine of its own
//	files.go   files.go, lock.go,   a file is written in three steps, between which the process can
//	           filewrite.go         die; it is whole, torn or absent; no lock excludes another job
//	folder.go  reload.go, package   a folder is a list in virtual time
//	           checkpoint
//	silent.go  verify.go            numbers are compared, in place of bytes
//
// Marks, narration, statistics and the bounds of memory exist in package recovery alone.
//
// # Reading order
//
//	run.go     one run, its options and its report
//	draw.go    the choices of the seed, and the processes that die
//	job.go     launcher: slots, starts, refusals, notices of deaths
//	worker.go  a process: its control rules, frames, messages
//	drive.go   executes the actions of the rules, as package recovery does
//	calls.go   its calls: boundaries, shrinks, replacements, exchanges
//	body.go    the program
//	data.go    commits and restores; store.go holds their parts
//	stock.go   static and forward members
//	memory.go  memory of nodes, which outlives processes
//	own.go     data saved outside of versions
//	files.go   files of a process; folder.go holds their content
//	lives.go   jobs that are started again over files, and their invariants
//	silent.go  data that change unseen in one process, and the checks that find them
//	check.go   the invariants, with losses.go and end.go
//
// # Not here
//
// Agreements in shared memory, and jobs that are started again over the memory of nodes.
package repairs
