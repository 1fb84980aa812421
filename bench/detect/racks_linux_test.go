package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHostsOfRacks: both files name the same nodes, and the second one names two racks of
// neighbours.
func TestHostsOfRacks(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	files, err := b.writeHosts(4)
	require.NoError(t, err)
	for i, want := range []string{"local0\nlocal1\nlocal2\nlocal3\n", "local0 rack=r0\nlocal1 rack=r0\nlocal2 rack=r1\nlocal3 rack=r1\n"} {
		text, err := os.ReadFile(files[i])
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	_, err = (&bench{dir: files[0]}).writeHosts(4)
	assert.Error(t, err)
}

// TestVictimsOfARack: one node, then twice as many, up to the whole second rack.
func TestVictimsOfARack(t *testing.T) {
	assert.Equal(t, []int{1, 2, 4}, rackSteps(4))
	assert.Equal(t, []int{1, 2, 3}, rackSteps(3))
	assert.Equal(t, []int{1}, rackSteps(1))
	assert.Equal(t, []int{4, 5, 6, 7}, lastOfRack(8, 4))
	assert.Equal(t, []int{7}, lastOfRack(8, 1))
}
