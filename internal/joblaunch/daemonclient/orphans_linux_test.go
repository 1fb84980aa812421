package daemonclient

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCloseWaitsForOrphans: the processes of a lost node of this machine may still be ending when
// its daemon has ended. A launcher that left before it would leave it behind.
func TestCloseWaitsForOrphans(t *testing.T) {
	orphan := exec.Command("cat")
	in, err := orphan.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, orphan.Start())
	n := &node{f: &Client{}}
	n.hold([]*process{{pid: orphan.Process.Pid}, {pid: orphan.Process.Pid, reaped: true}})
	require.Len(t, n.orphans, 1)

	ended := make(chan struct{})
	n.end = func(bool) { // its daemon has ended, and now the orphan may
		go func() {
			close(ended)
			_ = in.Close()
		}()
	}
	n.close()
	<-ended
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", orphan.Process.Pid))
	require.NoError(t, err)
	assert.Contains(t, string(stat), "(cat) Z ", "nothing of it runs")
	require.NoError(t, orphan.Wait())
	assert.Empty(t, n.orphans)
}

// TestLostDaemonGetsNoTime: one that is stopped, and lost, is killed at once. The end of the job
// does not wait for it.
func TestLostDaemonGetsNoTime(t *testing.T) {
	patience := endFor
	endFor = 24 * time.Hour
	defer func() { endFor = patience }()
	daemon := exec.Command("sleep", "infinity")
	n := newNode(&Client{}, 0, "a")
	var err error
	n.end, err = startDaemon(daemon, nil, func(error) {})
	require.NoError(t, err)
	require.NoError(t, daemon.Process.Signal(syscall.SIGSTOP))
	n.buried.Store(true)
	n.close()
	require.NotNil(t, daemon.ProcessState)
	assert.Equal(t, "signal: killed", daemon.ProcessState.String())
}
