package remotedaemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// TestFinishedNodeIsNotDead: a daemon that leaves after its node was quiet is declared like a dead
// one; the log distinguishes them.
func TestFinishedNodeIsNotDead(t *testing.T) {
	o := newNodeDaemon()
	o.nodes, o.solo.dir = 3, t.TempDir()
	var err error
	o.d, err = daemon.NewNode(o, 3, 0, &daemon.Neighbours{Slots: []int{0}})
	require.NoError(t, err)
	t.Cleanup(o.d.Close)
	o.roll = newRoll(o.d, []int{0, 1, 2}, 3)
	o.solo.begin(0)

	w := (*watcher)(o)
	w.Learned(2, []membership.Entry{{Kind: membership.Quiet}})
	w.Declaration(2)
	w.Declaration(3)
	text, err := os.ReadFile(filepath.Join(o.solo.dir, "node.0.log"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "node 1 has finished")
	assert.NotContains(t, string(text), "node 1 was declared dead")
	assert.Contains(t, string(text), "node 2 was declared dead")
}
