package enginejob_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onNodes returns a step of several nodes, which are all on this machine, and the environment by
// which their daemons meet.
func onNodes(t *testing.T, size, nodes int) (step, []string) {
	s := newStep(t, size)
	s.nodes = nodes
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("sixteen bytes, at least"), 0o600))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return s, []string{"GOULFM_SECRET_FILE=" + file, "GOULFM_RENDEZVOUS=" + ln.Addr().String()}
}

// TestOneWorldOnNodes: ranks of three nodes are one world.
func TestOneWorldOnNodes(t *testing.T) {
	s, env := onNodes(t, 6, 3)
	all, sum := s.startAll("sum", env...), 0
	for _, r := range all {
		sum += r.Process.Pid
	}
	for number, r := range all {
		r.wait()
		assert.Zero(t, r.code)
		assert.Equal(t, fmt.Sprintf("rank %d of 6: %d\n", number, sum), r.rest)
		want := ""
		if number == 0 {
			want = "world: 6 ranks on 3 nodes by Slurm step 7.0\n"
		}
		assert.Equal(t, want, r.errs.String())
	}
}

// TestADeathOnANodeIsSurvived: on the coordinator's node and on another one.
func TestADeathOnANodeIsSurvived(t *testing.T) {
	for _, victim := range []int{0, 3, 4} {
		s, env := onNodes(t, 6, 3)
		outlive(t, s.startAll("survive", env...), func(all []*rank) []int {
			require.NoError(t, all[victim].Process.Kill())
			return []int{victim}
		})
	}
}

// TestANodeIsLost: with its daemon the ranks of a node end, and the others continue.
func TestANodeIsLost(t *testing.T) {
	s, env := onNodes(t, 6, 3)
	outlive(t, s.startAll("survive", env...), func(all []*rank) []int {
		lost := s.daemonOf(all[2].Process.Pid)
		require.NotZero(t, lost)
		require.NoError(t, syscall.Kill(lost, syscall.SIGKILL))
		return []int{2, 5}
	})
}

// daemonOf returns the daemon that serves a rank: the daemon whose meeting place is that of the
// rank's node.
func (s step) daemonOf(pid int) int {
	node := variable(s.t, pid, "SLURM_NODEID")
	for _, d := range s.daemons() {
		if variable(s.t, d, "SLURM_NODEID") == node {
			return d
		}
	}
	return 0
}

// variable returns a variable of the environment with which a process was started.
func variable(t *testing.T, pid int, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	for entry := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// TestANodeIsMissing: the coordinator names the missing ranks, and all end with code 3.
func TestANodeIsMissing(t *testing.T) {
	s, env := onNodes(t, 6, 3)
	env = append(env, "GOULFM_START_TIMEOUT=2s")
	var all []*rank
	for _, number := range []int{0, 1, 3, 4} { // those of nodes 0 and 1
		all = append(all, s.start("sum", number, env...))
	}
	text := ""
	for _, r := range all {
		assert.Equal(t, 3, r.wait().code)
		text += r.errs.String()
	}
	assert.Contains(t, text, "4 of 6 ranks after 2s; missing, with their nodes: 2, 5 (GOULFM_START_TIMEOUT")
}

// TestADeathOnANodeBeforeTheWorld: a death ends the start for all, also for a node whose daemon
// comes to the coordinator after the failure.
func TestADeathOnANodeBeforeTheWorld(t *testing.T) {
	s, env := onNodes(t, 6, 3)
	var lives []*rank
	for _, number := range []int{0, 1, 2, 3, 4} {
		r := s.start("sum", number, append(env, "ADOPT_TEST_SAY=waiting")...)
		assert.Equal(t, "waiting", r.line())
		lives = append(lives, r)
	}
	require.NoError(t, lives[2].Process.Kill())
	text := ""
	for number, r := range lives {
		r.wait()
		if number != 2 {
			assert.Equal(t, 3, r.code)
			text += r.errs.String()
		}
	}
	assert.Equal(t, 2, strings.Count(text, "rank 2 ended before all had come"), "one rank of each node tells: %s", text)
}

// TestNodesWithoutAChannel: the line has a remedy.
func TestNodesWithoutAChannel(t *testing.T) {
	s := newStep(t, 4)
	s.nodes = 2
	r := s.start("sum", 0, "PATH=/nonexistent").wait()
	assert.Equal(t, 3, r.code)
	assert.Contains(t, r.errs.String(), "srun --mpi=pmi2; or munge on all nodes; or goulfm run")
}
