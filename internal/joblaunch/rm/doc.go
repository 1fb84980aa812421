// Package rm answers the first question of a process: who started me, and as which of
// how many? "rm" is for resource manager. Slurm, hydra (MPICH, Intel MPI), Open MPI and
// Kubernetes all tell their tasks, in environment variables, and where one engine runs
// inside another the variables of both are there. A wrong answer is expensive: a world
// of one in each of 64 tasks computes 64 times the same and ends with code 0, and a world
// of 64 where only one process is waits for the other 63.
//
// # The rows
//
// [Recognise] goes down this table, and the first row that holds decides. Of a variable that is
// there twice (srun --mpi=pmix and Open MPI do that) the first one counts.
//
//	row  holds if there is                                   rank, size          key
//	1    GOULFM_BOOT                                         internal/joblaunch/boot       -
//	2    GOULFM_ALONE=1; or GOULFM_JOINED names the claim    a world of one      -
//	     that the rows below come to
//	3    PMI_FD, a socket with a server at the other end,    PMI_*               pmi/KVSNAME, or
//	     with PMI_RANK and PMI_SIZE; or PMI_PORT and PMI_ID  or the server's     Slurm's, as row 5
//	4    OMPI_COMM_WORLD_RANK, _SIZE and PMIX_NAMESPACE      OMPI_COMM_WORLD_*   pmix/NAMESPACE
//	5    SLURM_STEP_NUM_TASKS, SLURM_PROCID and an ordinary  SLURM_*             slurm/CLUSTER/JOB.STEP.RESTARTS
//	     SLURM_STEP_ID, one below 4294967280
//	6    JOB_COMPLETION_INDEX and GOULFM_NODES               the index is the    k8s/GOULFM_JOB
//	                                                         node, not the rank
//	7    nothing of all this                                 a world of one      -
//
// Why in this order, as seen on real engines:
//
//   - PMI before the variables: a server that answers is better evidence than a variable
//     that may be inherited. For the same reason a PMI_FD without a server counts as not
//     there: an earlier program of the same task has finalized, and the server has gone.
//   - Open MPI before Slurm: mpirun in an allocation starts its own daemons as a step, and
//     their tasks inherit the daemons' SLURM_PROCID and SLURM_STEP_NUM_TASKS, which are
//     numbers of nodes. Only OMPI_COMM_WORLD_RANK speaks of Open MPI: srun itself sets
//     OMPI_MCA_* and PRTE_MCA_*.
//   - Slurm by SLURM_STEP_NUM_TASKS: a batch script has SLURM_PROCID=0 and
//     SLURM_NTASKS=4 and is one process; an interactive shell has step 4294967290.
//   - The number of restarts in Slurm's key: a requeued job has the ids of its first run,
//     whose tasks may still live on a node that was cut off.
//   - JOB_COMPLETION_INDEX alone is row 7: independent indices are the ordinary use of such
//     a job.
//
// # Invariants
//
//   - Evidence that cannot be used is an error, never a world of one: a process with
//     PMIX_RANK=3 that cannot learn of how many is one of many all the same. The error
//     wraps [ErrEvidence] and names a remedy.
//   - One identity is used once. Who has joined takes the variables [Spent] out of its
//     environment and leaves [Claim.Mark] in GOULFM_JOINED; a process that it starts, and
//     that would come to the same claim by what is left, is a world of one. A new step that a
//     rank starts (srun) has another key, and is a world of its own.
//   - Which rank is on which node is never computed from counts of tasks. Peers are what
//     the engine lists (SLURM_GTIDS), and unknown where no engine lists them.
//   - The components of a heterogeneous step, and the programs of --multi-prog, are one world.
//     Node is the place of this node's name in Hosts, which all ranks have alike.
//   - Recognise reads nothing but its arguments, and what it makes is bounded by them.
//
// # Not promised
//
// A claim is what the environment says, and nobody has been asked. Whether the others
// come is for those who meet.
//
// Reading order: claim.go, recognise.go, then one file for each engine; explain.go.
package rm
