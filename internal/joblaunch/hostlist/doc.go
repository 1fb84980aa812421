// Package hostlist reads the texts in which users and job engines write down hosts and the number
// of processes on each host.
//
//	text                              read by     where it comes from
//	n[001-010,12],gpu3                Expand      Slurm: SLURM_STEP_NODELIST, srun -w
//	2(x3),1                           Counts      Slurm: SLURM_TASKS_PER_NODE
//	n1 slots=4 rack=r1  # a comment   ParseFile   a host file: --hostfile, mpirun's, mpiexec's
//	a:2,user@b   or   4               ParseFlag   goulfm run --host
//
// # Invariants
//
//   - Order is kept, and so are leading zeros: n[08-10] is n08, n09, n10. A host that a text
//     names twice stays two hosts in a list of Slurm's. In a host file or a flag the two
//     become one with the sum of the slots.
//   - The result of a few bytes is bounded: HostsMax hosts, SlotsMax slots on one of them,
//     names of NameMax bytes. n[1-999999999] is an error, not an allocation.
//   - A host name begins with a letter, a digit or an underscore, so that no program which
//     receives it as an argument (ssh, srun) takes it for an option.
//   - Expand(Format(hosts)) returns the same hosts.
//   - Every error is an *Error: line, column, expected text, found text.
//
// # Not promised
//
// No name is resolved: a name may belong to no machine. Of Slurm's notation the package reads
// only the forms that Slurm writes, not all that Slurm accepts. Brackets inside of brackets,
// which Slurm expands to names such as "n[1", ranges without an end, and empty names are errors
// here. Ranges of letters exist in neither.
//
// Reading order of the files: error, list, format, counts, file, flag.
package hostlist
