package rm

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRack: the rack of a node is the path to its leaf switch; without a topology there is none.
func TestRack(t *testing.T) {
	for _, c := range []struct{ addr, pattern, want string }{
		{"s0.s4.n17", "switch.switch.node", "s0.s4"},
		{"s4.n17", "switch.node", "s4"},
		{"s4.n17.cluster.org", "switch.node", "s4"},
		{"s0.s[4-5].n17", "switch.switch.node", "s0.s[4-5]"},
		{"n17", "node", ""},
		{"n17.cluster.org", "node", ""},
		{"n17", "switch.node", ""},
		{"s4.n17", "switch.switch", ""},
		{"", "", ""},
	} {
		env := []string{"SLURM_TOPOLOGY_ADDR=" + c.addr, "SLURM_TOPOLOGY_ADDR_PATTERN=" + c.pattern}
		assert.Equal(t, c.want, Rack(env), "%s of %s", c.addr, c.pattern)
	}
	assert.Empty(t, Rack(nil))
	assert.Empty(t, Rack(observed(t, srun)), "as Slurm reports it without topology/tree")
}
