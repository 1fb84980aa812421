package rm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goulfm/goulfm/internal/joblaunch/hostlist"
)

// stepMax is the first of the step ids that are no steps of tasks: a batch script, an interactive
// shell, Slurm's own processes on a node.
const stepMax = 4294967280

// slurm is row 5.
func (r *reading) slurm() {
	c, ok := r.step()
	if ok {
		r.hold(c)
		return
	}
	switch {
	case !r.has("SLURM_JOB_ID") && !r.has("SLURM_STEP_NUM_TASKS"):
	case !r.has("SLURM_STEP_NUM_TASKS"):
		r.ignore(r.show("SLURM_JOB_ID") + ": an allocation or a batch script, in which this process is one; srun starts several")
	case r.special():
		r.ignore(r.show("SLURM_STEP_ID") + ": a shell that Slurm started, in which this process is one; srun starts several")
	default:
		r.fail("SLURM_STEP_NUM_TASKS", "of "+r.show("SLURM_PROCID")+", "+r.show("SLURM_STEP_ID")+" and "+r.show("SLURM_JOB_ID")+" one is no number as Slurm sets it")
	}
}

// special reports whether the step is no step of tasks.
func (r *reading) special() bool {
	id, ok := r.number("SLURM_STEP_ID", 1<<32)
	return ok && id >= stepMax
}

// step reads srun's variables of a task. ok is false if this process is no task of a step. step
// records nothing in the reading, because a claim by PMI calls it, too.
func (v vars) step() (c Claim, ok bool) {
	rank, size, ok := v.rankOf("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")
	step, okStep := v.number("SLURM_STEP_ID", stepMax)
	job, okJob := v.number("SLURM_JOB_ID", 1<<32)
	if !ok || !okStep || !okJob {
		return c, false
	}
	c = unknown(Slurm)
	c.Rank, c.Size = rank, size
	c.Why = fmt.Sprintf("SLURM_PROCID=%d of SLURM_STEP_NUM_TASKS=%d in step %d.%d", rank, size, job, step)
	c.engine = fmt.Sprintf("Slurm step %d.%d", job, step)
	c.Key = fmt.Sprintf("slurm/%s/%d.%d.%d", key(v["SLURM_CLUSTER_NAME"]), job, step, v.restarts())
	if node, nodes, ok := v.rankOf("SLURM_NODEID", "SLURM_STEP_NUM_NODES"); ok && nodes <= size {
		c.Node, c.Nodes = node, nodes
	}
	v.stepPeers(&c)
	v.stepHosts(&c)
	v.stepPlace(&c)
	return c, true
}

// restarts returns the number of requeues of the job; Slurm sets the variable from the first on.
func (v vars) restarts() int {
	n, _ := v.number("SLURM_RESTART_COUNT", 1<<32)
	return n
}

// stepPeers reads the ranks on this node. They are placed by srun's distribution, a heterogeneous
// step or --multi-prog: 0,3,4,5,6 here, 1 there.
func (v vars) stepPeers(c *Claim) {
	peers, problem := ranks(v["SLURM_GTIDS"], c.Size)
	if problem == "" && !slices.Contains(peers, c.Rank) {
		problem = "this rank is not among them"
	}
	if problem != "" {
		c.Ignored = append(c.Ignored, v.show("SLURM_GTIDS")+", which is to list the ranks of this node: "+problem)
		return
	}
	c.Peers, c.Locals = peers, len(peers)
	if local, ok := v.number("SLURM_LOCALID", len(peers)); ok && peers[local] == c.Rank {
		c.Local = local
	}
}

// ranks reads ranks with commas between, each once, of a world of size.
func ranks(list string, size int) (all []int, problem string) {
	for text := range strings.SplitSeq(list, ",") {
		n, ok := number(text, size)
		if !ok || len(all) == size {
			return nil, fmt.Sprintf("a rank below %d is expected for each", size)
		}
		all = append(all, n)
	}
	sorted := slices.Sorted(slices.Values(all))
	if len(slices.Compact(sorted)) < len(all) {
		return nil, "a rank is there twice"
	}
	return all, ""
}

// stepHosts reads the names of the nodes.
func (v vars) stepHosts(c *Claim) {
	hosts, err := hostlist.Expand(v["SLURM_STEP_NODELIST"])
	switch {
	case err != nil:
		c.Ignored = append(c.Ignored, v.show("SLURM_STEP_NODELIST")+": "+err.Error())
	case len(hosts) != c.Nodes:
		c.Ignored = append(c.Ignored, fmt.Sprintf("%s: %d nodes, not %s", v.show("SLURM_STEP_NODELIST"), len(hosts), v.show("SLURM_STEP_NUM_NODES")))
	default:
		c.Hosts = hosts
	}
}

// stepPlace sets Node to the place of this node's name among the names of the step. In a
// heterogeneous step SLURM_NODEID is another place: Slurm numbers the nodes of one component
// behind those of the one before, and lists all of them by their names.
//
//	srun -w n3 -n 1 ./a : -w n[1-2] -n 2 ./b   SLURM_NODEID is 0 on n3, SLURM_STEP_NODELIST is n[1-3]
//
// By their numbers all ranks would search on n1 for the daemon of n3. A node that two components
// share is in the list twice, and the list has the order of the numbers.
func (v vars) stepPlace(c *Claim) {
	name := v["SLURMD_NODENAME"]
	if c.Hosts == nil || name == "" {
		return
	}
	sorted := slices.Sorted(slices.Values(c.Hosts))
	if at := slices.Index(c.Hosts, name); at >= 0 && len(slices.Compact(sorted)) == len(c.Hosts) {
		c.Node = at
	}
	if c.Hosts[c.Node] != name {
		c.Ignored = append(c.Ignored, fmt.Sprintf("%s: its name %d is not %s", v.show("SLURM_STEP_NODELIST"), c.Node, v.show("SLURMD_NODENAME")))
		c.Hosts = nil
	}
}
