package sim

import (
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	nodeRuns   = flag.Int("node-runs", 300, "jobs on several nodes to simulate")
	nodeReplay = flag.Uint64("node-replay", 0, "print the trace of this run of nodes")
)

// TestNodes runs jobs on several machines: what nodeChecker lists holds, and runs come past all
// that there is.
func TestNodes(t *testing.T) {
	total, err := RunManyNodes(NodeOptions{Seed: *seed}, runtime.NumCPU(), func(sum NodeTotal) bool { return sum.Runs >= *nodeRuns })
	t.Logf("%+v", total)
	require.NoError(t, err)
	for what, n := range map[string]int{
		"agreements": total.Agreements, "shrinks": total.Shrinks, "revocations": total.Revokes, "deaths of ranks": total.Deaths,
		"nodes that were declared": total.Lost, "and lived": total.Wronged, "freezes": total.Freezes, "ranks that stand still by themselves": total.Halts,
		"thaws": total.Thaws, "other heads": total.Heads, "ranks of declared nodes that ran on": total.Zombies, "connections that broke": total.Broken,
		"sessions that told of a death": total.Refused, "nodes that ended themselves": total.Ended, "jobs that could not go on": total.Stopped,
	} {
		assert.Positive(t, n, what)
	}
}

// TestSameSeedSameNodes: a run is a function of its options.
func TestSameSeedSameNodes(t *testing.T) {
	hashes := map[uint64]bool{}
	for s := range uint64(20) {
		first, err1 := RunNodes(NodeOptions{Seed: s})
		traced, err2 := RunNodes(NodeOptions{Seed: s, Trace: func(string) {}})
		require.NoError(t, err1)
		require.NoError(t, err2)
		assert.Equal(t, first, traced, "seed %d", s)
		hashes[first.Hash] = true
	}
	assert.Len(t, hashes, 20)
}

func TestNodeReplay(t *testing.T) {
	if *nodeReplay == 0 {
		t.Skip("needs -node-replay SEED")
	}
	report, err := RunNodes(NodeOptions{Seed: *nodeReplay, Trace: func(line string) { t.Log(line) }})
	t.Logf("%+v", report)
	require.NoError(t, err)
}
