// Package hostlist reads the texts in which people and job engines write down hosts
// and how many processes each of them takes.
//
//	text                              read by     where it comes from
//	n[001-010,12],gpu3                Expand      Slurm: SLURM_STEP_NODELIST, srun -w
//	2(x3),1                           Counts      Slurm: SLURM_TASKS_PER_NODE
//	n1 slots=4 rack=r1  # a comment   ParseFile   a host file: --hostfile, mpirun's, mpiexec's
//	a:2,user@b   or   4               ParseFlag   goulfm run --host
//
// # Invariants
//
//   - Order is kept, and so are leading zeros: n[08-10] is n08, n09, n10. Hosts that a
//     text names twice stay two in a list of Slurm's, and become one with the sum of the
//     slots in a host file or a flag.
//   - What a few bytes can stand for is bounded: HostsMax hosts, SlotsMax slots on one of
//     them, names of NameMax bytes. n[1-999999999] is an error, not an allocation.
//   - A host name begins with a letter, a digit or an underscore, so that no program
//     which gets it as an argument (ssh, srun) takes it for an option.
//   - Expand(Format(hosts)) gives the hosts again.
//   - Every error is an *Error: line, column, what was expected, what was found.
//
// # Not promised
//
// Nothing is looked up: a name may belong to no machine. Of Slurm's notation only what
// Slurm writes is read, not all that it lets pass: brackets inside of brackets, which
// Slurm expands to names such as "n[1", ranges without an end, and empty names are errors
// here. Ranges of letters exist in neither.
//
// Reading order: error.go, list.go, format.go, counts.go, file.go, flag.go.
package hostlist
