package shm

import (
	"os"
	"os/exec"
	"testing"

	"github.com/goulfm/goulfm/internal/shm/segment"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAddressesThatDoNotSuffice: a process that cannot map the memory of all others fails at once,
// and the error holds the limit and the remedy. If the process noticed later, when it first sends
// to a living process, it could only wait for ever.
func TestAddressesThatDoNotSuffice(t *testing.T) {
	const procs = 8 // of 270 MB each
	nodeFile, err := segment.Create("node", segment.NodeBytes(procs))
	require.NoError(t, err)
	defer nodeFile.Close()
	arenas, err := segment.Create("arenas", segment.ArenasBytes(procs))
	require.NoError(t, err)
	defer arenas.Close()
	m, err := segment.Attach(nodeFile.Fd())
	require.NoError(t, err)
	segment.FormatNode(m, procs, job)
	for limit, want := range map[string]string{"unlimited": "rank 1: <nil>", "2500000": "of the 2441 MiB that this process may have: raise the limit (ulimit -v unlimited), or have fewer processes"} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -v "$0" && exec "$1"`, limit, os.Args[0])
		cmd.Env = append(os.Environ(), childPart+"=open")
		cmd.ExtraFiles = []*os.File{nodeFile, arenas}
		_, err := cmd.StdinPipe() // the open pipe keeps the child alive until it has reported its result
		require.NoError(t, err)
		out, _ := cmd.CombinedOutput()
		assert.Contains(t, string(out), want, limit)
	}
}
