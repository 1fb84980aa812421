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
