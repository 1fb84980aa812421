// Package enginejob joins ranks that a job engine has started into one world: "srun -n 4 ./heat",
// "mpiexec -n 4 ./heat" or "mpirun -n 4 ./heat", with no goulfm run around them and no installed
// goulfm.
//
// The problem. Each of these processes is alone: no process has made shared memory for them or
// monitors them, and their environment variables give only a rank and a size. Each node needs
// exactly one daemon, which outlives every rank. No process can be elected to be the daemon,
// since the elected process may die at that very moment.
//
//	rank (comm.Init)                        daemon (the same program file)
//	Find: the engine, rank and size (internal/joblaunch/rm)
//	bind @goulfm-HASH: the first rank
//	  listens, executes /proc/self/exe  --> package variable's init: main never starts
//	connect, claim, pidfd               --> muster: records and watches the rank
//	                  waiting           <--
//	                                        all have come: memory, a place for each
//	boot.Info, descriptors: Join        <-- placed
//	from here on the connection is its lifeline; the rest is internal/joblaunch/daemon's
//
// The name of the meeting place is an abstract unix socket. It is no file, and vanishes with the
// last process that holds it. So a starter may die anywhere:
//
//	starter dies after   others see                  and
//	bind                 refused; the name is free   one of them binds it
//	listen               their connections are reset the same
//	fork                 nothing: the daemon has it  continue
//
// Invariants:
//
//   - There is never a second name: two names would make two daemons. If another user holds
//     the name, that is an error.
//   - The daemon has of its starter's descriptors standard output and error, and the socket,
//     nothing else: a pipe of the engine that the daemon kept open would never end.
//   - No file is made, and nothing is left. The daemon ends when its last process has ended,
//     and a watchdog that shares no lock with the daemon ends it a second later.
//   - The world is whole or none. A death before all ranks have their places is a failed
//     start: all ranks exit with code 3, and one line gives the reason.
//   - An identity is used once: a child of a process that has joined is not taken for that
//     process.
//
// Ranks on several nodes are one world, too. Each node has such a daemon. The daemon of rank 0 is
// the coordinator, and the others are introduced to it (crossing_linux.go). The coordinator
// controls them as a launcher controls its daemons under goulfm run --host, but these daemons
// adopt their ranks. The world ends with the coordinator.
//
// Not promised yet: Spawn, replacement of lost ranks, a world that outlives its coordinator. The
// engine handles the exit code and the output of ranks.
//
// Init functions of other packages run in the daemon, too: those of the packages that the linker
// puts before this one, which do not import comm.
//
// Reading order: find.go, server.go, muster.go (the rules), message.go, meet_linux.go (rank),
// serve_linux.go (daemon), host_linux.go, watchdog_linux.go; of several nodes several.go,
// introduction.go (the coordinator's rules), showing_linux.go (rank), crossing_linux.go (daemon),
// coordinator_linux.go; of goulfm daemon with a program enlist_linux.go, standby_linux.go.
package enginejob
