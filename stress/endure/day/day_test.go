package day

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

// A copy of this program is a rank, with -rank as its first argument.
func TestMain(m *testing.M) { trial.RunTests(m, func(args []string) { Main(args[1:]) }) }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-for 1h -every 1m": true, "-apart 1": true, "-json": true, "-for 0s": false, "-every 0s": false, "-apart 0": false, "x": false,
	})
}

// TestDay runs for one second, with a death about every fifth agreement, or for as long as this
// machine needs until the first death.
func TestDay(t *testing.T) {
	p, err := trial.Open("day", "", time.Minute)
	require.NoError(t, err)
	defer p.Close()
	var r trial.Result
	for long := time.Second; len(r.Deaths()) == 0 && long < time.Minute; long *= 2 {
		r = p.Run(4, []string{"--spares", "1"}, []string{"-rank", "-for", long.String(), "-every", "300ms", "-apart", "5"})
		assert.Empty(t, r.Judge(), r.Stderr)
	}
	assert.Regexp(t, `(?m)^day: \d+ agreements, [1-9]\d* failures in \d+ s, all right: `, r.Stdout)
	assert.NotEmpty(t, r.Deaths())
}

// TestReport: a line for people, and the same as JSON.
func TestReport(t *testing.T) {
	n := counts{Begun: time.Now().Add(-10 * time.Second).UnixNano(), Agreements: 1000, Failures: 40, Repairs: 39}
	var out bytes.Buffer
	require.NoError(t, n.report(footprint{500, 6}, false).print(&out, false))
	assert.Regexp(t, `^      10 s       1000 agreements        40 failures +\d+\.\d and +\d\.\d\d a second; launcher 500 KiB, 6 descriptors, rank 0 \d+ KiB\n$`, out.String())
	out.Reset()
	require.NoError(t, n.report(footprint{500, 6}, true).print(&out, true))
	assert.Regexp(t, `^{"seconds":1\d\.\d+,"agreements":1000,"failures":40,"repairs":39,"launcherKiB":500,"launcherDescriptors":6,"rankKiB":\d+,"done":true}\n$`, out.String())
}

// TestCheckSees: a wrong flag is detected, with and without a death.
func TestCheckSees(t *testing.T) {
	k := newWorker(nil, options{seed: 3}, io.Discard)
	k.size = 3
	all := k.flagOf(0) & k.flagOf(1) & k.flagOf(2)
	two := k.flagOf(0) & k.flagOf(1)
	for _, c := range []struct {
		name  string
		flag  uint64
		died  bool
		right bool
	}{
		{"of all", all, false, true},
		{"of all, whatever the clocks say", all | goesOn | warm, false, true},
		{"of all though one has died", all, true, true},
		{"of two, and one has died", two, true, true},
		{"of two, and nobody has died", two, false, false},
		{"a bit that this one has not", all | ^k.flagOf(0)&^clocks, true, false},
		{"a bit of all is missing", all & (all - 1), true, false},
	} {
		assert.Equal(t, c.right, k.check(c.flag, k.flagOf(0), c.died) == "", c.name)
	}
}

// TestCounts: replacements get the counts of the others.
func TestCounts(t *testing.T) {
	want := counts{Begun: 1, Agreements: 2, Failures: 3, Repairs: 4, Next: 5, Launcher: footprint{6, 7}}
	var got counts
	require.NoError(t, got.decode(want.encode()))
	assert.Equal(t, want, got)
	assert.Error(t, got.decode([]byte{1}))
	assert.Equal(t, want.Launcher, footprintOf(want.Launcher.flag()))
}

// TestLauncherOf: a rank of a node has a daemon between itself and the launcher.
func TestLauncherOf(t *testing.T) {
	parents := map[int]int{5: 4, 4: 3, 3: 2, 2: 1}
	programs := map[int]string{5: "day", 4: "goulfm", 3: "goulfm", 2: "sh", 1: ""}
	of := func(pid int) int {
		return launcherOf(pid, func(pid int) int { return parents[pid] }, func(pid int) string { return programs[pid] })
	}
	assert.Equal(t, 3, of(4), "a node daemon")
	assert.Equal(t, 3, of(3), "the launcher")
	assert.Equal(t, 1, of(1), "a parent of another user")
}

func TestGrowth(t *testing.T) {
	first := footprint{1000, 20}
	assert.Empty(t, first.growth(footprint{1000 + residentMay, 20 + descriptorsMay}))
	assert.Contains(t, first.growth(footprint{1001 + residentMay, 20}), "memory")
	assert.Contains(t, first.growth(footprint{1000, 21 + descriptorsMay}), "descriptors")
}
