package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/harness/figure"
)

// TestMain makes the test binary a member or a rank, like the program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == beMember || os.Args[1] == beRank) {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestARun starts each side with each fault: all others learn of the fault, and not before it.
func TestARun(t *testing.T) {
	p := plan{swim: "local", limit: time.Minute}
	goulfm, remove, err := p.command(t.Context())
	require.NoError(t, err)
	defer remove()
	for _, s := range p.sides(goulfm) {
		for _, fault := range []string{faultKill, faultStop} {
			c := cell{n: 3, fault: fault, period: 200 * ms, factor: 5} // one second: no living member is late
			r, err := p.runOnce(t.Context(), s, c, 1)
			require.NoError(t, err, "%s, %s", s.name(), fault)
			assert.Positive(t, r.first)
			assert.GreaterOrEqual(t, r.last, r.first)
		}
	}
}

// TestPureSWIM: memberlist has no push-pull, no gossip and no TCP probes then.
func TestPureSWIM(t *testing.T) {
	pure, full := settings("lan", true, 500*ms), settings("lan", false, 500*ms)
	assert.Zero(t, pure.PushPullInterval)
	assert.Zero(t, pure.GossipInterval)
	assert.True(t, pure.DisableTcpPings)
	assert.Equal(t, 15*time.Second, full.PushPullInterval, "30 s with a ProbeInterval of 1 s")
	assert.Equal(t, 250*ms, full.ProbeTimeout)
	assert.Equal(t, 100*ms, full.GossipInterval)
	assert.False(t, full.DisableTcpPings)
}

// TestWrongRuns: a notice of a living member, an early notice and an early end make a run wrong.
func TestWrongRuns(t *testing.T) {
	for line, wrong := range map[string]bool{"knows 0 2 50": true, "knows 0 1 5": true, "over 0": true, "over -1": true, "over 2": false, "knows 0 x 50": false, "at 1 2": false} {
		g := newGroup(3)
		g.lines <- line
		_, err := g.awaitKnown(t.Context(), 3, 1, 10)
		require.Error(t, err, line)
		assert.Equal(t, wrong, errors.Is(err, errWrong), "%s: %v", line, err)
	}
	g := newGroup(3)
	for _, line := range []string{"knows 0 1 30", "knows 0 1 35", "knows 2 1 40"} {
		g.lines <- line
	}
	times, err := g.awaitKnown(t.Context(), 3, 1, 10)
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{20, 30}, times, "a second notice of one member does not count")
}

// planted is the results of a figure in which each run of a side takes so many periods.
func planted(id string, periods map[string]func(c cell) float64, wrong map[string]bool) *drawing {
	d := &drawing{id: id, of: layouts[id]}
	for _, c := range d.of.cells() {
		for _, side := range sideNames {
			for run := range 3 {
				last := time.Duration(periods[side](c) * float64(c.period))
				d.results = append(d.results, result{side: side, c: c, run: run, first: last / 2, last: last, wrong: wrong[side] && run == 0})
			}
		}
	}
	return d
}

// likePapers is times as the papers have them.
func likePapers() map[string]func(c cell) float64 {
	grows := func(c cell) float64 {
		if c.fault == faultStop {
			return 11 + float64(c.n)/8
		}
		return 100
	}
	return map[string]func(c cell) float64{namePushPull: grows, namePure: grows, nameOurs: func(c cell) float64 { return 1.5 }}
}

// TestClaimsCanFail: with the values of the papers all claims hold, and each fails with a wrong
// one.
func TestClaimsCanFail(t *testing.T) {
	verdicts := func(d *drawing) map[string]verdict {
		d.judge()
		all := map[string]verdict{}
		for _, c := range d.claims {
			all[c.what] = c.holds
		}
		return all
	}
	swimWrong := map[string]bool{namePure: true}
	for _, id := range ids {
		for what, v := range verdicts(planted(id, likePapers(), swimWrong)) {
			assert.Equal(t, holds, v, "%s: %s", id, what)
		}
	}
	always := func(y float64) func(cell) float64 { return func(cell) float64 { return y } }
	tested := map[string]bool{}
	for _, w := range []struct {
		id, claim, side string
		y               func(cell) float64
		wrong           map[string]bool
		want            verdict
	}{
		{overMembers, "goulfm: medians from P", nameOurs, always(0.9), swimWrong, fails},
		{overMembers, "goulfm: medians from P", nameOurs, always(2.2), swimWrong, fails},
		{overMembers, "SWIM takes at least twice", namePure, always(2.9), swimWrong, fails},
		{overMembers, "SWIM: medians above 10 P", namePushPull, always(8), swimWrong, differs},
		{overMembers, "goulfm: no living member", nameOurs, always(1.5), map[string]bool{nameOurs: true}, fails},
		{overMembers, "goulfm: about the same", nameOurs, func(c cell) float64 { return 1 + float64(c.n)/32 }, swimWrong, fails},
		{overMembers, "SWIM grows", namePushPull, always(12), swimWrong, fails},
		{overPeriods, "pure SWIM against", namePure, always(24), swimWrong, differs},
		{overPeriods, "SWIM: wrong runs", namePure, always(12), nil, differs},
		{withDefaults, "kill: SWIM takes", nameOurs, always(20), swimWrong, fails},
		{withDefaults, "goulfm: no living member", nameOurs, always(1.5), map[string]bool{nameOurs: true}, fails},
	} {
		periods := likePapers()
		periods[w.side] = w.y
		found := false
		for what, v := range verdicts(planted(w.id, periods, w.wrong)) {
			if strings.HasPrefix(what, w.claim) {
				found, tested[what] = true, true
				assert.Equal(t, w.want, v, "%s: %s", w.id, what)
			}
		}
		assert.True(t, found, "%s: no claim %q", w.id, w.claim)
	}
	for _, id := range ids {
		for what := range verdicts(planted(id, likePapers(), swimWrong)) {
			assert.True(t, tested[what], "%s: no wrong value is planted for %q", id, what)
		}
	}
}

// TestAllRunsWrong: a point without times makes the claims about it fail.
func TestAllRunsWrong(t *testing.T) {
	d := planted(overMembers, likePapers(), nil)
	for i := range d.results {
		d.results[i].wrong = d.results[i].wrong || d.results[i].side == nameOurs && d.results[i].c.n == 8
	}
	d.judge()
	failed := 0
	for _, c := range d.claims {
		if c.holds == fails {
			failed++
		}
	}
	assert.Equal(t, 4, failed, "bounds, ratio, accuracy, stability")
}

// TestTable: the files and the rows of each figure, with a row that has the load and one a cell.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	for _, id := range ids {
		d := planted(id, likePapers(), map[string]bool{namePure: true})
		var out strings.Builder
		require.NoError(t, (figure.Place{IDs: ids, Dir: dir}).Put(d.draw("0.25", 3), &out))
		assert.Contains(t, out.String(), "load average 0.25 at the start")
		assert.Equal(t, 1+len(d.of.cells())+len(d.claims), strings.Count(out.String(), "\n"))
		assert.Contains(t, out.String(), "goulfm 1.5 (1.5); wrong runs of SWIM, pure: 1 |")
		assert.Zero(t, d.failed)
		for _, kind := range []string{".csv", ".svg"} {
			assert.FileExists(t, filepath.Join(dir, id+kind))
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, overMembers+".svg"))
	require.NoError(t, err)
	assert.Equal(t, 3+3, strings.Count(string(svg), "<polyline"), "the medians and the lines of the paper")
}

var textOf = regexp.MustCompile(`<text x="([\d.]+)" y="([\d.]+)" ([^>]*)>([^<]*)</text>`)

// TestLayoutOfFiles: no text of the figures in out is cut off.
func TestLayoutOfFiles(t *testing.T) {
	paths, err := filepath.Glob("out/*.svg")
	require.NoError(t, err)
	require.Len(t, paths, len(ids))
	for _, path := range paths {
		svg, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, cut := range cutOff(string(svg)) {
			t.Errorf("%s: %q is cut off", path, cut)
		}
	}
	svg := `<svg width="720" height="300"><text x="360.0" y="20.0" text-anchor="middle" font-size="14">%s</text>`
	assert.Empty(t, cutOff(fmt.Sprintf(svg, "short")))
	assert.Len(t, cutOff(fmt.Sprintf(svg, strings.Repeat("long ", 30))), 1, "a planted title that is too long")
}

// cutOff returns the texts of a drawing that do not fit into its width of 720. A letter is at most
// 0.65 of the size of the font wide, on average.
func cutOff(svg string) (all []string) {
	const width, letter = 720.0, 0.65
	for _, m := range textOf.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		size := 12.0
		if strings.Contains(m[3], `font-size="14"`) {
			size = 14
		}
		long, left := letter*size*float64(len([]rune(m[4]))), x
		switch {
		case strings.Contains(m[3], "rotate"):
			continue // runs along the graph, which is 400 high
		case strings.Contains(m[3], "middle"):
			left = x - long/2
		case strings.Contains(m[3], "end"):
			left = x - long
		}
		if left < 0 || left+long > width {
			all = append(all, m[4])
		}
	}
	return all
}

// TestFlags: the program refuses plans that it cannot measure.
func TestFlags(t *testing.T) {
	for _, args := range []string{"-n 2", "-n x", "-figure D8", "-figure D9,", "-swim wan", "-runs 0", "-periods 1ms", "-periods x", "-limit 0s", "more"} {
		var p plan
		assert.Error(t, p.parse(strings.Fields(args)), args)
	}
	var p plan
	require.NoError(t, p.parse(nil))
	assert.Equal(t, ids, p.figures)
	assert.Equal(t, []int{4, 8, 16, 32}, p.layout(overMembers).sizes)
	assert.Equal(t, cell{4, faultStop, 500 * ms, 2, ms}, p.layout(overMembers).cells()[0], "the settings of the papers")
	p = plan{}
	require.NoError(t, p.parse(strings.Fields("-figure D9p -n 5 -periods 1s,30ms")))
	assert.Equal(t, layout{layouts[overPeriods].title, []int{5}, []string{faultStop}, []time.Duration{time.Second, 30 * ms}, 2, ms}, p.layout(overPeriods))
	p = plan{}
	require.NoError(t, p.parse([]string{"-quick"}))
	assert.Equal(t, 2, p.runs)
	assert.True(t, slices.Equal([]int{4}, p.layout(overMembers).sizes))
}

// TestLatest: the bound of goulfm has the timeout, the time to confirm, the lease and the hop.
func TestLatest(t *testing.T) {
	assert.InDelta(t, 2.122, cell{period: 500 * ms, factor: 2, confirm: ms}.latest(), 1e-9)
	assert.InDelta(t, 7.7, cell{period: 100 * ms, factor: 5}.latest(), 1e-9)
}
