package rm

import "strings"

// Rack returns the switches above this node, the largest first, as Slurm reports them to each task
// if its plugin topology/tree is in use. Nodes below one leaf switch have the same result. Rack
// returns "" if the environment names no switch.
//
//	SLURM_TOPOLOGY_ADDR    SLURM_TOPOLOGY_ADDR_PATTERN    Rack
//	s0.s4.n17              switch.switch.node             s0.s4
//	n17                    node                           ""
func Rack(env []string) string {
	v := index(env)
	kinds := strings.Split(v["SLURM_TOPOLOGY_ADDR_PATTERN"], ".")
	last := len(kinds) - 1
	names := strings.SplitN(v["SLURM_TOPOLOGY_ADDR"], ".", len(kinds)) // a node's name may have periods
	if kinds[last] != "node" || len(names) != len(kinds) {
		return ""
	}
	return strings.Join(names[:last], ".")
}
