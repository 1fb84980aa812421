// Package enginejob makes one world of ranks that a job engine has started: "srun -n 4 ./heat",
// "mpiexec -n 4 ./heat" or "mpirun -n 4 ./heat", with no goulfm run and no installed goulfm around
// them.
//
// The problem. Each of those processes is alone: nobody has made shared memory for them, nobody
// watches them, and nobody told them more than a rank and a size in environment variables. On
// each node one daemon has to be there, exactly one, outliving any rank; and no process is
// elected to be it, since whoever is may die at that very moment.
//
//	rank (comm.Init)                        daemon (the same program file)
//	Find: who started me, as which of how many (internal/joblaunch/rm)
//	bind @goulfm-HASH: whoever succeeds
//	  listens, executes /proc/self/exe  --> package variable's init: main never starts
//	connect, claim, pidfd               --> muster: notes who has come; has it watched
//	                  waiting           <--
//	                                        all have come: memory, a place for each
//	boot.Info, descriptors: Join        <-- placed
//	from here on the connection is its lifeline; the rest is internal/joblaunch/daemon's
//
// The name of the meeting place is an abstract unix socket: it is no file, and goes with the
// last process that holds it. So a starter may die anywhere:
//
//	starter dies after   others see                  and
//	bind                 refused; the name is free   one of them binds it
//	listen               their connections are reset the same
//	fork                 nothing: the daemon has it  go on
//
// Invariants:
//
//   - There is never a second name: two names would make two daemons. Where another user holds
//     the name, that is an error.
//   - The daemon has of its starter's descriptors standard output and error, and the socket,
//     nothing else: a pipe of the engine's that it kept open would never end.
//   - No file is made, and nothing is left: the daemon ends when its last process has, and a
//     watchdog that shares no lock with it ends it a second later.
//   - The world is whole or none. A death before all have their places is a failed start: all
//     exit with code 3, and one line says why.
//   - An identity is used once: what a process that has joined starts is not taken for it.
//
// Ranks on several nodes are one world, too. Each node has such a daemon. That of rank 0 is the
// coordinator, and the others are introduced to it (crossing_linux.go): it orders them as a
// launcher orders its daemons under goulfm run --host, but they adopt their ranks. The world ends
// with the coordinator.
//
// Not promised yet: Spawn, replacement of lost ranks, a world that outlives its coordinator. The
// exit code and the output of ranks are the engine's.
//
// Init functions of other packages run in the daemon, too: those of the packages that the
// linker puts before this one, which do not import comm.
//
// Reading order: find.go, server.go, muster.go (the rules), message.go, meet_linux.go (rank),
// serve_linux.go (daemon), host_linux.go, watchdog_linux.go; of several nodes several.go,
// introduction.go (the coordinator's rules), showing_linux.go (rank), crossing_linux.go (daemon),
// coordinator_linux.go; of goulfm daemon with a program enlist_linux.go, standby_linux.go.
package enginejob
