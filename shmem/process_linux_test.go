package shmem_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnProcesses: the tests of this package pass at processes that a launcher has started, of which some are killed by SIGKILL.
func TestOnProcesses(t *testing.T) {
	if testing.Short() || asProcess {
		t.Skip("builds the launcher and starts processes")
	}
	goulfm := filepath.Join(t.TempDir(), "goulfm")
	build := exec.Command("go", "build", "-o", goulfm, "github.com/goulfm/goulfm/cmd/goulfm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for test, n := range map[string]int{
		"TestObjects": 5, "TestBounds": 2, "TestSpecW1AllocIsUniform": 3, "TestStrided": 2, "TestAtomics": 4, "TestWaits": 4,
		"TestCollectives": 4, "TestLockExcludes": 4, "TestSpecW2W3W5W8W9W17DeadPE": 3, "TestSpecW20Repair": 5, "TestRepairReachesWaiters": 5,
		"TestSpecW11BrokenLock": 4, "TestLockGivenUp": 3, "TestSpecW24AllocGivenUp": 3, "TestHandler": 2, "TestNoAllocations": 2,
	} {
		t.Run(test, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			job := exec.CommandContext(ctx, goulfm, "run", "-n", strconv.Itoa(n), "--timeout", "1m", os.Args[0], "-test.run", "^"+test+"$", "-test.v")
			job.Env = append(os.Environ(), "SHMEM_TEST_RANK=1")
			out, err := job.CombinedOutput()
			require.NoError(t, err, "%s", out)
			passed := strings.Count(string(out), "--- PASS: "+test)
			assert.GreaterOrEqual(t, passed, n/2, "%s", out)
		})
	}
}
