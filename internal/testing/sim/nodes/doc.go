// Package nodes simulates jobs on several machines in virtual time.
//
// # Problem
//
// A partition, a slow clock and the death of a daemon meet in schedules that no real cluster
// repeats. Here a run is a function of its Options: equal options give an equal trace hash.
//
// # How a run works
//
// Each machine has a daemon, which hosts the rules about nodes (package membership), and ranks,
// which host the control rules and share the memory of their node. The launcher is one more member
// of that table, without ranks. Daemons monitor each other, have clocks of different rates, and
// hold leases. A job either survives its launcher or ends with it. Ranks read the list of their
// node before anything else, and agree in two levels. Ranks of different nodes use lanes of package
// session over connections, which break and lose every byte that is not acknowledged.
//
// Ranks, leaders, daemons, machines and the launcher die. Machines and daemons pause. Links are cut,
// also in one direction. Whole steps are atomic in the memory of a node.
//
// # Invariants
//
// The type nodeChecker lists them. Shrink removes faults from a run that fails.
//
// # Reading order
//
//	run.go      one run, its options and its report
//	draw.go     the choices of the seed
//	faults.go   the faults of a run, and their times
//	station.go  a machine: clock, daemon, list of ended processes, lease
//	net.go      delays, losses and cuts between machines
//	rank.go     a rank: the order in which it reads list, frames and memory, and how it freezes
//	lane.go     one end of a lane: the bytes that a session counts
//	cable.go    a connection: the bytes in flight, and those of them that are lost
//	program.go  the program
//	check.go    invariants of each step; end.go: invariants of the end
//	many.go     many runs; shrink.go: fewer faults that break the same invariant
//
// # Not here
//
// Data messages between nodes, spawns, and networks that stay cut for ever.
package nodes
