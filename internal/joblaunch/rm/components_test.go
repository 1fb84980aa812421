package rm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A task is a task of a step with the variables that Slurm sets: Slurm counts ranks and nodes up,
// component by component.
type task struct {
	node        string
	nodeID      int
	rank, local int
	peers       string
}

// step puts tasks into the environment of an observed task.
func step(t *testing.T, name, nodes string, count int, tasks []task) (all []Claim) {
	for _, k := range tasks {
		env := set(observed(t, name), "SLURMD_NODENAME="+k.node, fmt.Sprintf("SLURM_NODEID=%d", k.nodeID), fmt.Sprintf("SLURM_PROCID=%d", k.rank),
			fmt.Sprintf("SLURM_LOCALID=%d", k.local), "SLURM_GTIDS="+k.peers, "SLURM_STEP_NODELIST="+nodes, "SLURM_NODELIST="+nodes,
			fmt.Sprintf("SLURM_STEP_NUM_NODES=%d", count), fmt.Sprintf("SLURM_NNODES=%d", count), fmt.Sprintf("SLURM_STEP_NUM_TASKS=%d", len(tasks)), fmt.Sprintf("SLURM_NTASKS=%d", len(tasks)))
		all = append(all, recognise(t, env, no))
	}
	return all
}

// TestComponentsAreOneWorld: ranks count through all components, each with a program of its own.
// All have the same key, size and nodes, and each finds its own node by name.
func TestComponentsAreOneWorld(t *testing.T) {
	for name, c := range map[string]struct {
		env, nodes string
		tasks      []task
	}{
		"a step of two components, in the order of names": {"slurm-24.11.5-het-step", "n[1-2]", []task{
			{"n1", 0, 0, 0, "0,1"}, {"n1", 0, 1, 1, "0,1"}, {"n2", 1, 2, 0, "2"}}},
		"the first component is behind the second one": {"slurm-24.11.5-het-step", "n[1-3]", []task{
			{"n3", 0, 0, 0, "0"}, {"n1", 1, 1, 0, "1,3"}, {"n2", 2, 2, 0, "2,4"}, {"n1", 1, 3, 1, "1,3"}, {"n2", 2, 4, 1, "2,4"}}},
		"three components of a job, the second one between": {"slurm-24.11.5-het-job", "n[1-3]", []task{
			{"n2", 0, 0, 0, "0"}, {"n3", 1, 1, 0, "1"}, {"n1", 2, 2, 0, "2,3"}, {"n1", 2, 3, 1, "2,3"}}},
		"as an older Slurm tells it": {"slurm-22.05.8-het-step", "n[1-2]", []task{
			{"n2", 0, 0, 0, "0,1"}, {"n2", 0, 1, 1, "0,1"}, {"n1", 1, 2, 0, "2"}}},
		"programs of --multi-prog": {"slurm-24.11.5-multi-prog", "n[1-2]", []task{
			{"n1", 0, 0, 0, "0,1"}, {"n1", 0, 1, 1, "0,1"}, {"n2", 1, 2, 0, "2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := map[string]int{}
			for _, k := range c.tasks {
				nodes[k.node]++
			}
			var ranks []int
			all := step(t, c.env, c.nodes, len(nodes), c.tasks)
			for i, claim := range all {
				node := c.tasks[i].node
				assert.Equal(t, Slurm, claim.Engine)
				assert.Equal(t, []int{len(c.tasks), len(nodes), nodes[node]}, []int{claim.Size, claim.Nodes, claim.Locals}, "rank %d", claim.Rank)
				assert.Equal(t, all[0].Key, claim.Key)
				assert.Equal(t, all[0].Hosts, claim.Hosts)
				require.Len(t, claim.Hosts, len(nodes))
				assert.Equal(t, node, claim.Hosts[claim.Node], "rank %d", claim.Rank)
				assert.Equal(t, claim.Rank, claim.Peers[claim.Local])
				assert.Empty(t, claim.Ignored)
				ranks = append(ranks, claim.Rank)
			}
			slices.Sort(ranks)
			for i, rank := range ranks {
				assert.Equal(t, i, rank)
			}
		})
	}
}

// TestComponentsThatShareANode: the list has the shared node twice, in the order of the
// components, and the node counts as two.
func TestComponentsThatShareANode(t *testing.T) {
	for _, claim := range step(t, "slurm-24.11.5-het-job", "n2,n1,n2", 3, []task{{"n2", 0, 0, 0, "0"}, {"n1", 1, 1, 0, "1"}, {"n2", 2, 2, 0, "2"}}) {
		assert.Equal(t, claim.Rank, claim.Node)
		assert.Equal(t, []string{"n2", "n1", "n2"}, claim.Hosts)
	}
}

// TestComponentsThatCannotBePlaced: a list without this node does not locate the first node. The
// numbers are known; a caller that needs the names returns an error.
func TestComponentsThatCannotBePlaced(t *testing.T) {
	for nodes, ignored := range map[string]string{
		"n[1-2]": "SLURM_STEP_NODELIST=n[1-2]: its name 1 is not SLURMD_NODENAME=n4",
		"n[1-4]": "SLURM_STEP_NODELIST=n[1-4]: 4 nodes, not SLURM_STEP_NUM_NODES=2",
	} {
		claim := step(t, "slurm-24.11.5-het-step", nodes, 2, []task{{"n4", 1, 0, 0, "0"}, {"n1", 0, 1, 0, "1"}})[0]
		assert.Nil(t, claim.Hosts)
		assert.Equal(t, 1, claim.Node)
		assert.Contains(t, claim.Ignored, ignored)
	}
}

// TestComponentsWithPMI: with --mpi=pmi2 the server's numbers count through all components, too.
func TestComponentsWithPMI(t *testing.T) {
	env := set(observed(t, "slurm-24.11.5-het-job"), "PMI_FD=7", "PMI_RANK=2", "PMI_SIZE=3")
	c, err := recognise(t, env, yes).WithServer(Unknown, Unknown, "10.0")
	require.NoError(t, err)
	assert.Equal(t, "PMI-1: rank 2/3 local 0/1 node 1/2 peers 2 on n[1-2] key slurm/bottle/10.0.0 covers slurm/bottle/10.0.0/2", text(c))
}
