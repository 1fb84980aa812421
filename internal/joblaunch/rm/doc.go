// Package rm determines which job engine started a process, and its rank among how many
// processes. "rm" is for resource manager. Slurm, hydra (MPICH, Intel MPI), Open MPI and
// Kubernetes all report these values to their tasks in environment variables. If one engine runs
// inside another, the variables of both are set. A wrong result is expensive. With a world of one
// in each of 64 tasks, the job computes the same 64 times and ends with code 0. With a world of
// 64 in a single process, that process waits for the other 63.
//
// # The rows
//
// [Recognise] checks the rows of this table in order, and the first row that holds decides. If a
// variable is set twice (srun --mpi=pmix and Open MPI do that), the first one counts.
//
//	row  holds if there is                                   rank, size          key
//	1    GOULFM_BOOT                                         internal/joblaunch/boot       -
//	2    GOULFM_ALONE=1; or GOULFM_JOINED names the claim    a world of one      -
//	     that the rows below come to
//	3    PMI_FD, a socket with a server at the other end,    PMI_*               pmi/KVSNAME, or
//	     with PMI_RANK and PMI_SIZE; or PMI_PORT and PMI_ID  or the server's     Slurm's, as row 5
//	4    OMPI_COMM_WORLD_RANK, _SIZE and PMIX_NAMESPACE      OMPI_COMM_WORLD_*   pmix/NAMESPACE
//	5    SLURM_STEP_NUM_TASKS, SLURM_PROCID and an ordinary  SLURM_*             slurm/CLUSTER/
//	     SLURM_STEP_ID, one below 4294967280                                     JOB.STEP.RESTARTS
//	6    JOB_COMPLETION_INDEX and GOULFM_NODES               the index is the    k8s/GOULFM_JOB
//	                                                         node, not the rank
//	7    nothing of all this                                 a world of one      -
//
// The reasons for this order, as observed on real engines:
//
//   - PMI before the variables: a server that answers is better evidence than a variable that
//     may be inherited. For the same reason a PMI_FD without a server counts as unset: an
//     earlier program of the same task has finalized, and the server has closed the socket.
//   - Open MPI before Slurm: mpirun in an allocation starts its own daemons as a step, and
//     their tasks inherit the daemons' SLURM_PROCID and SLURM_STEP_NUM_TASKS, which are
//     numbers of nodes. Only OMPI_COMM_WORLD_RANK indicates Open MPI: srun itself sets
//     OMPI_MCA_* and PRTE_MCA_*.
//   - Slurm by SLURM_STEP_NUM_TASKS: a batch script has SLURM_PROCID=0 and SLURM_NTASKS=4 and
//     is one process; an interactive shell has step 4294967290.
//   - The number of restarts in Slurm's key: a requeued job has the ids of its first run,
//     whose tasks may still live on a node that was cut off.
//   - JOB_COMPLETION_INDEX alone is row 7: independent indices are the ordinary use of such a
//     job.
//
// # Invariants
//
//   - Evidence that cannot be used is an error, never a world of one: a process with
//     PMIX_RANK=3 and an unknown size is still one of many. The error wraps [ErrEvidence] and
//     names a remedy.
//   - One identity is used once. A process that has joined removes the variables [Spent] from
//     its environment and sets GOULFM_JOINED to [Claim.Mark]. A process that it starts, and
//     that would come to the same claim by the remaining variables, is a world of one. A new
//     step that a rank starts (srun) has another key, and is a world of its own.
//   - The node of a rank is never computed from counts of tasks. Peers are the ranks that the
//     engine lists (SLURM_GTIDS), and unknown if no engine lists them.
//   - The components of a heterogeneous step, and the programs of --multi-prog, are one
//     world. Node is the place of this node's name in Hosts, which are the same at all ranks.
//   - Recognise reads nothing but its arguments, and the size of its result is bounded by them.
//
// # Not promised
//
// A claim rests on the environment alone, and is not checked with the other processes. The
// rendezvous of the processes finds out whether the others come.
//
// Reading order: claim.go, recognise.go, then one file for each engine; explain.go.
package rm
