package adopt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goulfm/goulfm/internal/rm"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServersAreNotAsked: a PMI server is there and nobody can ask it yet. What Slurm says
// beside it counts; else that is an error, never a world of one.
func TestServersAreNotAsked(t *testing.T) {
	slurm := []string{"SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1", "SLURM_STEP_ID=0", "SLURM_JOB_ID=7", "SLURM_GTIDS=0,1", "SLURM_STEP_NUM_NODES=1", "SLURM_NODEID=0"}
	port := []string{"PMI_PORT=n1:4000", "PMI_ID=1"}
	c, err := recognise(append(port, slurm...))
	require.NoError(t, err)
	assert.Equal(t, rm.Slurm, c.Engine)
	assert.Equal(t, 1, c.Rank)
	_, err = recognise(port)
	assert.ErrorIs(t, err, rm.ErrEvidence)
	assert.ErrorContains(t, err, "goulfm run")
	c, err = recognise(append(port, "GOULFM_ALONE=1"))
	require.NoError(t, err)
	assert.Equal(t, rm.Alone, c.Engine)
}

// TestClaimsThatCannotBeMet: rank 0 says why, the others that rank 0 does.
func TestClaimsThatCannotBeMet(t *testing.T) {
	for _, c := range []rm.Claim{
		{Engine: rm.Slurm, Size: 4, Locals: 2, Nodes: 2}, {Engine: rm.Slurm, Size: 4, Locals: rm.Unknown, Nodes: rm.Unknown}, {Engine: rm.OpenMPI, Size: 4, Locals: 2, Nodes: rm.Unknown},
		{Engine: rm.Kubernetes, Size: rm.Unknown, Locals: rm.Unknown, Nodes: 1}, {Engine: rm.Slurm, Size: ranksMax + 1, Locals: ranksMax + 1, Nodes: 1},
	} {
		for rank := range 2 {
			c.Rank = rank
			var f *Failure
			require.ErrorAs(t, check(&c), &f, "%+v", c)
			assert.Equal(t, rank > 0, f.Elsewhere)
			assert.Contains(t, f.Why, "goulfm run")
			assert.Equal(t, rank == 0, strings.Contains(f.Error(), f.Why))
		}
	}
	c := rm.Claim{Engine: rm.Slurm, Size: 4, Locals: rm.Unknown, Nodes: 1} // SLURM_GTIDS is not there
	assert.NoError(t, check(&c))
}

// TestTimeouts reads GOULFM_START_TIMEOUT.
func TestTimeouts(t *testing.T) {
	for text, want := range map[string]time.Duration{"": startTimeout, "90s": 90 * time.Second, "5": 5 * time.Second, "1m30s": 90 * time.Second} {
		got, err := timeoutOf(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"x", "0", "-1s", "1000h"} {
		_, err := timeoutOf(text)
		assert.ErrorContains(t, err, timeoutVariable)
	}
}

// TestPlaces: other users, starts and nodes have other places.
func TestPlaces(t *testing.T) {
	c := rm.Claim{Engine: rm.Slurm, Key: "slurm/c/1.0.0"}
	other, node := c, c
	other.Key, node.Node = "slurm/c/1.0.1", 1
	places := map[string]bool{placeOf(1, &c): true, placeOf(2, &c): true, placeOf(1, &other): true, placeOf(1, &node): true}
	assert.Len(t, places, 4)
	assert.Regexp(t, "^@goulfm-[0-9a-f]{24}$", placeOf(1, &c))
}

// TestAnIdentityIsUsedUp: after Init nothing in the environment leads to the same claim again,
// in any of the environments that were observed.
func TestAnIdentityIsUsedUp(t *testing.T) {
	paths, err := filepath.Glob("../rm/testdata/*.env")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	used := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		env := strings.Split(strings.TrimSpace(string(text)), "\n")
		c, err := recognise(env)
		if err != nil || c.Engine == rm.Alone {
			continue
		}
		used++
		within(t, env, func() {
			leave(&c)
			again, err := recognise(os.Environ())
			require.NoError(t, err, path)
			assert.Equal(t, rm.Alone, again.Engine, path)
			_, ok := os.LookupEnv("SLURM_JOB_ID")
			assert.Equal(t, strings.Contains(string(text), "SLURM_JOB_ID="), ok, "a child may call srun")
		})
	}
	assert.Positive(t, used)
}

// within calls f with another environment, and brings this one back.
func within(t *testing.T, env []string, f func()) {
	t.Helper()
	mine := os.Environ()
	defer func() { set(t, mine) }()
	set(t, env)
	f()
}

func set(t *testing.T, env []string) {
	t.Helper()
	os.Clearenv()
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
}
