package batch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/gridrpc"
)

// TestComplete: mistakes in a program are errors when it is registered, and so is a machine without
// the commands of Slurm.
func TestComplete(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	good := Program{Args: []string{"/bin/true"}, Dir: filepath.Join(t.TempDir(), "jobs")}
	_, err := good.complete()
	require.ErrorIs(t, err, gridrpc.ErrUnsupported)
	for _, tool := range []string{"sbatch", "squeue", "scancel"} {
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("PATH"), tool), []byte("#!/bin/sh\n"), 0o700))
	}
	p, err := good.complete()
	require.NoError(t, err)
	assert.Equal(t, Slurm, p.System)
	assert.DirExists(t, p.Dir)
	for want, bad := range map[string]Program{
		`batch system "pbs"`: {Args: good.Args, Dir: good.Dir, System: "pbs"},
		`program ["true"]`:   {Args: []string{"true"}, Dir: good.Dir},
		`program []`:         {Dir: good.Dir},
		`folder "jobs"`:      {Args: good.Args, Dir: "jobs"},
	} {
		_, err := bad.complete()
		assert.ErrorContains(t, err, want)
	}
}

// TestSweep: folders of calls are deleted a week after their last change.
func TestSweep(t *testing.T) {
	p := Program{Dir: t.TempDir()}
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": keptFor + time.Hour, "young": keptFor - time.Hour} {
		dir := filepath.Join(p.Dir, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chtimes(dir, now, now.Add(-age)))
	}
	require.NoError(t, p.sweep(now))
	assert.NoDirExists(t, filepath.Join(p.Dir, "old"))
	assert.DirExists(t, filepath.Join(p.Dir, "young"))
}

// TestRun: errors of the batch system that pass are distinguished from the others, and a job gets
// no variables of the platform.
func TestRun(t *testing.T) {
	t.Setenv("GRIDRPC_TEST", "1")
	out, err := run(t.Context(), "sh", []string{"-c", "echo $GRIDRPC_TEST."}, "")
	require.NoError(t, err)
	assert.Equal(t, ".\n", out)
	_, err = run(t.Context(), "sh", []string{"-c", "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"}, "")
	assert.ErrorIs(t, err, errAway)
	_, err = run(t.Context(), "sh", []string{"-c", "echo 'invalid partition specified: no' >&2; exit 1"}, "")
	assert.NotErrorIs(t, err, errAway)
	assert.ErrorContains(t, err, "invalid partition specified: no")
}
