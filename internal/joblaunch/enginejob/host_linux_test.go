package enginejob

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/shm/segment"
)

// TestNobodyIsLostAtTheEnd: when a rank is through Finalize, all have called it, and a lost node
// is not reported any more. All other reports reach the user.
func TestNobodyIsLostAtTheEnd(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stderr := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = stderr }()

	d, err := daemon.NewNode(nil, 2, 0, &daemon.Neighbours{Slots: []int{0}})
	require.NoError(t, err)
	defer d.Close()
	d.Announce(2)
	coordinator := newCoordinator("k", 2, 0)
	h := &host{isOver: coordinator.anyLeft}
	h.Note("node", "%s is lost", "1")
	coordinator.own.Store(d)
	h.Note("node", "%s is lost", "2")
	node, _ := d.Memory()
	m, err := segment.Attach(node.Fd())
	require.NoError(t, err)
	n, err := segment.OpenNode(m, d.Job())
	require.NoError(t, err)
	n.SetState(0, segment.Left)
	h.Note("suspect", "%s: not heard", "3")
	h.Note("node", "%s is lost", "3")
	h.Note("anomaly", "%s says nonsense", "3")
	require.NoError(t, w.Close())
	said, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "goulfm: 1 is lost\ngoulfm: 2 is lost\ngoulfm: 3 says nonsense\n", string(said))
}
