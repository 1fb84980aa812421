package enginejob

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/goulfm/goulfm/internal/base/buildid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheCoordinatorListens: if nodes have no numbers, the daemon of rank 0 listens, whichever
// rank of its node has come first.
func TestTheCoordinatorListens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("sixteen bytes, at least"), 0o600))
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		s := &several{Channel: bySecret, Locals: 2, Node: -1, Addrs: []string{"127.0.0.1:0"}, Secret: file}
		var guests []*guest
		for _, rank := range order {
			guests = append(guests, &guest{claim: claim{Build: buildid.Build, Key: "k", Rank: rank, Size: 4, Several: s}})
		}
		x, err := newCrossing(&guests[0].claim, "n1", now())
		require.NoError(t, err)
		for _, g := range guests {
			x.add(g)
		}
		proof, answer, err := x.meetCoordinator(t.Context(), nil)
		require.NoError(t, err)
		assert.NotNil(t, proof, "it is the coordinator")
		assert.Nil(t, answer)
		require.NotNil(t, x.listener)
		assert.NoError(t, x.listener.Close())
	}
}
