package park

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func maskOf(cpus ...int) (m unix.CPUSet) {
	for _, cpu := range cpus {
		m.Set(cpu)
	}
	return m
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		name   string
		mine   unix.CPUSet
		others []unix.CPUSet // without this process
		shares bool
	}{
		{"alone on a core", maskOf(0), []unix.CPUSet{maskOf(1)}, false},
		{"two bound to one core", maskOf(0), []unix.CPUSet{maskOf(0)}, true},
		{"two on two cores", maskOf(0, 1), []unix.CPUSet{maskOf(0, 1)}, false},
		{"three on two cores", maskOf(0, 1), []unix.CPUSet{maskOf(0, 1), maskOf(0, 1)}, true},
		{"one is free to go elsewhere", maskOf(0), []unix.CPUSet{maskOf(1), maskOf(2), maskOf(3)}, false},
		{"another may come here", maskOf(0), []unix.CPUSet{maskOf(0, 1)}, true},
	} {
		assert.Equal(t, c.shares, shares(&c.mine, append(c.others, c.mine)), c.name)
	}
}

// TestSharesCore asks in processes that a wrapper has bound.
func TestSharesCore(t *testing.T) {
	if os.Getenv("PARK_BOUND") != "" {
		assert.True(t, SharesCore([]int{os.Getpid(), os.Getpid()}), "two processes bound to one core")
		assert.False(t, SharesCore([]int{os.Getpid()}))
		assert.False(t, SharesCore([]int{os.Getpid(), 0, 1 << 30}), "processes that have ended")
		return
	}
	var all unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	assert.Equal(t, all.Count() < 2, SharesCore([]int{os.Getpid(), os.Getpid()}))
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skip("no taskset here")
	}
	cmd := exec.Command("taskset", "-c", "0", os.Args[0], "-test.run=^TestSharesCore$")
	cmd.Env = append(os.Environ(), "PARK_BOUND=1")
	out, err := cmd.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}
