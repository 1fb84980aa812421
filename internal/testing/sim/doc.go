// Package sim is the simulator: the rules that ship, hosted in virtual time, under faults that one
// seed decides.
//
// Each kind of simulation is a package, and the package world has their common parts:
//
//	cluster  processes of one machine: agreement, detection, revocation, messages; searches of all
//	         states of very small worlds
//	nodes    jobs on several machines: leases, connections that break, partitions
//	repairs  jobs whose ranks die and are replaced: commits, copies, node memory, files
//
// The command goulfm sim executes runs. A failure prints its seed and the command that replays it.
package sim
