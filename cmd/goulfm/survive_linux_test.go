package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A survivor is a job that outlives its launcher.
type survivor struct {
	t       *testing.T
	dir     string // of its output
	daemons []int  // their pids, by node
}

// outliveLauncher starts a job on 4 nodes of 2 ranks each, and kills its launcher once all ranks
// are in Init.
func outliveLauncher(t *testing.T, args ...string) *survivor {
	t.Helper()
	s := &survivor{t: t, dir: t.TempDir()}
	cmd, _, errs := start(t, append([]string{"run", "--host", "4", "--ppn", "2", "--survive-launcher", "--output-dir", s.dir, "--kill", "launcher@0s"}, args...)...)
	for len(s.daemons) < 4 {
		s.daemons = childrenOf(t, cmd.Process.Pid)
	}
	assert.Error(t, cmd.Wait())
	assert.Contains(t, errs.String(), "the launcher is killed as planned")
	s.await("node.0.log", "is the coordinator now")
	return s
}

// coordinator returns the node that was the first coordinator after the launcher, according to the
// log of node zero. On a busy machine another node may be the first: a node that is late to vote
// for epoch 1 requests epoch 2.
func (s *survivor) coordinator() (node int) {
	log := s.read("node.0.log")
	at := strings.Index(log, " is the coordinator now")
	_, err := fmt.Sscan(log[strings.LastIndex(log[:at], " ")+1:at], &node)
	require.NoError(s.t, err, "%s", log)
	return node
}

// childrenOf returns the children of a process in the order of their pids. That is the order of
// their start, unless the pids of the system have wrapped around in between.
func childrenOf(t *testing.T, pid int) (pids []int) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, file := range files {
		text, _ := os.ReadFile(file) // a thread may have ended
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			require.NoError(t, err)
			pids = append(pids, child)
		}
	}
	slices.Sort(pids)
	return pids
}

// await waits until a file of the job contains a text.
func (s *survivor) await(name, text string) {
	s.t.Helper()
	for limit := time.Now().Add(hangs); !strings.Contains(s.read(name), text); time.Sleep(time.Millisecond) {
		require.True(s.t, time.Now().Before(limit), "%s: %s", name, s.read(name))
	}
}

func (s *survivor) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

// awaitEnd waits until no daemon is left.
func (s *survivor) awaitEnd() {
	s.t.Helper()
	for limit := time.Now().Add(hangs); ; time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(s.daemons, func(pid int) bool { return syscall.Kill(pid, 0) == nil }) {
			return
		}
		require.True(s.t, time.Now().Before(limit), "%s%s", s.read("node.1.log"), s.read("node.2.log"))
	}
}

// TestOutlivesItsLauncher: the launcher is killed, and then the node that is the next coordinator.
// The other nodes recover, write the output of their ranks themselves, and leave no process behind.
func TestOutlivesItsLauncher(t *testing.T) {
	s := outliveLauncher(t, prog, "recover")
	coordinator := s.coordinator()
	require.NoError(t, syscall.Kill(s.daemons[coordinator], syscall.SIGKILL))
	s.awaitEnd()
	living := slices.DeleteFunc([]int{0, 1, 2, 3, 4, 5, 6, 7}, func(rank int) bool { return rank/2 == coordinator })
	assert.Equal(t, fmt.Sprintf("survivors %v\nsum 15\n", living), s.read(fmt.Sprintf("rank.%d.out", living[0])))
	for rank := range 8 {
		assert.Empty(t, s.read(fmt.Sprintf("rank.%d.err", rank)))
	}
	for node := range 4 {
		if node != coordinator {
			log := s.read(fmt.Sprintf("node.%d.log", node))
			assert.Contains(t, log, fmt.Sprintf("node %d was declared dead", coordinator))
			assert.Contains(t, log, "no rank is left on any node that is known to live")
		}
	}
}

// TestNobodyStartsProcessesWithoutLauncher: without the launcher, Spawn returns an error that names
// the reason. A rank can still end the job, while all others wait for ever.
func TestNobodyStartsProcessesWithoutLauncher(t *testing.T) {
	s := outliveLauncher(t, prog, "outlive")
	require.NoError(t, syscall.Kill(s.daemons[1], syscall.SIGKILL))
	s.awaitEnd()
	assert.Regexp(t, `^survivors \[0 1 4 5 6 7\]\nsum 15\nspawn.*the launcher of the job is gone, and nobody else starts processes\n$`, s.read("rank.0.out"))
}
