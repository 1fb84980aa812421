package rm

import (
	"fmt"
	"slices"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// Allocation returns the nodes of the Slurm allocation in which a process is to start a job, with
// the number of the allocation's tasks there as slots (0: not known). It returns none for a
// process outside of an allocation, for a task of a step, whose processors were chosen by the
// user that requested the task, and for a batch script whose only node is this one. The
// allocation of a heterogeneous job is an error: one srun without --het-group reaches only the
// first component, and the others would be idle. An error wraps ErrEvidence.
func Allocation(env []string) ([]hostlist.Host, error) {
	v := index(env)
	if _, ok := v.number("SLURM_JOB_ID", 1<<32); !ok || !v.has("SLURM_JOB_NODELIST") {
		return nil, nil
	}
	if _, isTask := v.step(); isTask {
		return nil, nil
	}
	if components, ok := v.number("SLURM_HET_SIZE", RanksMax); ok && components > 1 {
		return nil, unusable("%s, and goulfm run starts a job in one component: start the ranks with srun --het-group=0-%d instead, or say with --host which nodes of the first component they are to have, or --launcher local for this one alone", v.show("SLURM_HET_SIZE"), components-1)
	}
	names, err := hostlist.Expand(v["SLURM_JOB_NODELIST"])
	if err != nil || len(names) == 0 {
		return nil, unusable("%s, which is to list the nodes of this allocation: %v: say with --host which they are, or --launcher local for this one alone", v.show("SLURM_JOB_NODELIST"), err)
	}
	if len(names) == 1 && v["SLURMD_NODENAME"] == names[0] {
		return nil, nil
	}
	slots, err := hostlist.Counts(v["SLURM_TASKS_PER_NODE"])
	if err != nil || len(slots) != len(names) {
		slots = slices.Repeat([]int{0}, len(names))
	}
	hosts := make([]hostlist.Host, len(names))
	for i, name := range names {
		hosts[i] = hostlist.Host{Name: name, Slots: slots[i]}
	}
	return hosts, nil
}

// OneOf returns the reason why a process must not start a job of its own: an engine has started
// it as one of several tasks, or as one of several without a known rank. nil: the process may
// start a job.
func OneOf(c Claim, err error) error {
	const own = "each of them would start a job of its own"
	switch {
	case err != nil:
		return err
	case c.Engine == Goulfm:
		return nil // a rank may start a job
	case c.Engine == Kubernetes && c.Nodes > 1:
		return fmt.Errorf("%s (%s): %s: let the Job have one pod, or set %s=1", c, c.Why, own, AloneVariable)
	case c.Size > 1:
		return fmt.Errorf("%s (%s): %s: ask the engine for one task (srun -n 1, mpiexec -n 1), start the program without goulfm run, or set %s=1", c, c.Why, own, AloneVariable)
	}
	return nil
}
