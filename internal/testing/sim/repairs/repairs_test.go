package repairs

import (
	"flag"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	seed         = flag.Uint64("seed", 1, "first seed")
	repairs      = flag.Int("repairs", 3000, "repairs to simulate")
	repairReplay = flag.Uint64("repair-replay", 0, "print the trace of this run of repairs")
)

// TestRepairs runs jobs whose ranks die and are replaced: V1 to V14 hold, and each kind of event
// occurs.
func TestRepairs(t *testing.T) {
	total, err := RunMany(Options{Seed: *seed}, runtime.NumCPU(), func(sum Total) bool { return sum.Repairs >= *repairs })
	t.Logf("%+v", total)
	require.NoError(t, err)
	for what, n := range map[string]int{
		"deaths": total.Deaths, "slots used again": total.Reused, "requests refused": total.Refused, "versions restored": total.Restored, "parts out of parity": total.Rebuilt,
		"parts out of node memory": total.Inherited, "nodes lost": total.NodesLost, "deaths while a repair restores": total.Restoring, "saves": total.Saves, "worlds that shrank": total.Shrunk, "versions in files": total.Files.Written, "versions deleted": total.Files.Deleted, "jobs started anew": total.Files.Lives, "versions out of files": total.Files.Restored,
		"of those dealt out": total.Files.Dealt, "files that could not be read": total.Files.Spoiled, "versions given up": total.Files.Abandoned,
		"changes unseen": total.Silent.Flipped, "values that differed": total.Silent.Replicas, "replays that differed": total.Silent.Replays, "done": total.Done, "stopped": total.Stopped, "errors": total.Peer, "too few processes": total.TooFew, "all dead": total.No,
	} {
		assert.Positive(t, n, what)
	}
}

// TestSameSeedSameRepairs: a run is a function of its options.
func TestSameSeedSameRepairs(t *testing.T) {
	hashes := map[uint64]bool{}
	for s := range uint64(20) {
		first, err1 := Run(Options{Seed: s})
		traced, err2 := Run(Options{Seed: s, Trace: func(string) {}})
		require.NoError(t, err1)
		require.NoError(t, err2)
		assert.Equal(t, first, traced, "seed %d", s)
		hashes[first.Hash] = true
	}
	assert.Len(t, hashes, 20)
}

// TestRepairViolationNamesItsReplay: the error names the broken invariant and the seed, as other
// violations do.
func TestRepairViolationNamesItsReplay(t *testing.T) {
	r := newRepairRun(Options{Seed: 7, N: 3})
	r.fail("V3", "parts %d and %d", 1, 2)
	r.fail("V4", "the first one counts")
	assert.True(t, strings.HasPrefix(r.violation.Error(), "V3 broken: parts 1 and 2\nrun: seed 7, n=3 "), r.violation)
	assert.True(t, strings.HasSuffix(r.violation.Error(), "\nreplay: goulfm sim -repairs 1 -replay 7 -n 3"), r.violation)
}

// TestRepairsFound runs schedules that have found faults which few other schedules find.
func TestRepairsFound(t *testing.T) {
	for seed, what := range map[uint64]string{
		1795695726042527899: "a part of a version was not stored in a home that had one of another rank",
		1795695726000042106: "ranks went back to a version in files before its manifest was there",
		1795938224140246915: "what was not to be restored was found again in the homes of others",
		1795695726000000351: "ranks made their plans of reports that had changed",
		1795695726000064167: "with Verify all went back to what was left long ago on a node",
		314:                 "a forward member was older than the version, which was whole after all",
		37011:               "an epoch was given twice: to replacements nobody had told of it",
	} {
		_, err := Run(Options{Seed: seed})
		assert.NoError(t, err, what)
	}
}

func TestRepairReplay(t *testing.T) {
	if *repairReplay == 0 {
		t.Skip("needs -repair-replay SEED")
	}
	report, err := Run(Options{Seed: *repairReplay, Trace: func(line string) { t.Log(line) }})
	t.Logf("%+v", report)
	require.NoError(t, err)
}
