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

// TestOnProcesses: the tests of this package pass at processes that a launcher has started. SIGKILL
// kills some of them.
func TestOnProcesses(t *testing.T) {
	if testing.Short() || asProcess {
		t.Skip("builds the launcher and starts processes")
	}
	goulfm := build(t, "cmd/goulfm")
	for test, n := range map[string]int{
		"TestObjects": 5, "TestBounds": 2, "TestSpecW1AllocIsUniform": 3, "TestStrided": 2, "TestAtomics": 4, "TestWaits": 4,
		"TestCollectives": 4, "TestLockExcludes": 4, "TestSpecW2W3W5W8W9W17DeadPE": 3, "TestSpecW20Repair": 5, "TestRepairReachesWaiters": 5, "TestRepairMeetsCalls": 4,
		"TestSpecW11BrokenLock": 4, "TestLockGivenUp": 3, "TestSpecW24AllocGivenUp": 3, "TestHandler": 2, "TestNoAllocations": 2,
	} {
		t.Run(test, func(t *testing.T) { onProcesses(t, goulfm, test, n) })
	}
	for test, n := range map[string]int{
		"TestAtomics": 4, "TestWaits": 4, "TestCollectives": 4, "TestLockExcludes": 4, "TestSpecW2W3W5W8W9W17DeadPE": 3, "TestSpecW20Repair": 5, "TestSpecW11BrokenLock": 4,
	} {
		t.Run(test+"/nodes", func(t *testing.T) {
			onProcesses(t, goulfm, test, n, "--host", "3", "--ppn", "2", "--timeout-factor", "50")
		})
	}
}

// onProcesses runs a test as the ranks of a job.
func onProcesses(t *testing.T, goulfm, test string, n int, flags ...string) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"run", "-n", strconv.Itoa(n), "--timeout", "1m"}, flags...)
	job := exec.CommandContext(ctx, goulfm, append(args, os.Args[0], "-test.run", "^"+test+"$", "-test.v")...)
	job.Env = append(os.Environ(), "SHMEM_TEST_RANK=1")
	out, err := job.CombinedOutput()
	require.NoError(t, err, "%s", out)
	passed := strings.Count(string(out), "--- PASS: "+test)
	assert.GreaterOrEqual(t, passed, n/2, "%s", out)
}

// TestSieve: examples/sieve finds all primes when two of its processes are killed, one of which has
// the list of finished work.
func TestSieve(t *testing.T) {
	if testing.Short() || asProcess {
		t.Skip("builds the launcher and starts processes")
	}
	goulfm, sieve := build(t, "cmd/goulfm"), build(t, "examples/sieve")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	job := exec.CommandContext(ctx, goulfm, "run", "-q", "-n", "4", "--timeout", "1m", "--kill", "1@factor=5", "--kill", "0@factor=20", sieve)
	out, err := job.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `(?m)^sieve: 148933 primes below 2000000, 2 ranks of 4, [12] repairs$`, string(out))
}

// build builds a program of this module.
func build(t *testing.T, program string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), filepath.Base(program))
	cmd := exec.Command("go", "build", "-o", file, "github.com/goulfm/goulfm/"+program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}
