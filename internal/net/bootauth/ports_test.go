package bootauth

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPorts(t *testing.T) {
	for i := range 1000 {
		ports := Ports(fmt.Sprint("slurm-", i))
		assert.Len(t, ports, 16)
		assert.GreaterOrEqual(t, slices.Min(ports), 20000)
		assert.LessOrEqual(t, slices.Max(ports), 31999)
		slices.Sort(ports)
		assert.Len(t, slices.Compact(ports), 16, "all different")
	}
}

// TestPortsStay: a node with another build tries the same ports.
func TestPortsStay(t *testing.T) {
	// The first 8 bytes of SHA-256("slurm-7.0") are 0x672f870023972171.
	assert.Equal(t, []int{31057, 26976, 22895, 30814, 26733, 22652, 30571, 26490, 22409, 30328, 26247, 22166, 30085, 26004, 21923, 29842}, Ports("slurm-7.0"))
}
