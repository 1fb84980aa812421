package daemonclient

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
)

// TestANodeIsLostAtItsStart: if all its processes have been started their deaths are for the others
// to handle; else the start has failed.
func TestANodeIsLostAtItsStart(t *testing.T) {
	f := &Client{processes: map[int]*process{0: {pid: 7}, 2: {pid: 8}, 3: {}}}
	n := &node{f: f, slots: []int{2, 3, 4}, begun: make(chan daemonproto.Begun, 1), lost: make(chan struct{})}
	close(n.lost)
	assert.ErrorIs(t, n.awaitBegun(), errLost, "3 was not started")
	for range 20 {
		n.begun <- daemonproto.Begun{Why: "no such program"}
		assert.ErrorContains(t, n.awaitBegun(), "no such program", "its daemon has said so")
	}
	f.processes[3].pid = unknown
	assert.NoError(t, n.awaitBegun())
}

// unknown is the pid of a process of another namespace.
const unknown = -1
