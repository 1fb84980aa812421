package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
	"github.com/goulfm/goulfm/internal/testing/mutants"
	"github.com/goulfm/goulfm/internal/testing/mutants/edits"
)

// small names the bugs that CI hunts: the canary and some more of each layer.
var small = []string{edits.Canary, "A5", "A5b", "A6", "A8", "A12", "A23", "B4", "B20", "order", "onenode-skip", "onenode-own-view", "world-settle", "world-slots", "nodes-roster-B22", "nodes-A26"}

// hunter compiles the hunter with a bug planted.
func hunter(t *testing.T, name string) (edits.Edit, string) {
	if testing.Short() || raceEnabled {
		t.Skip("compiles the simulator with a bug")
	}
	root, err := edits.Root()
	require.NoError(t, err)
	all := edits.All()
	at := slices.IndexFunc(all, func(e edits.Edit) bool { return e.Name == name })
	require.GreaterOrEqual(t, at, 0, name)
	program := filepath.Join(t.TempDir(), "hunter")
	require.NoError(t, all[at].Build(root, "internal/testing/mutants/hunter", program))
	return all[at], program
}

// TestBugsAreFound: without a rule, runs break the invariant that the rule protects, from the
// same seeds that pass with the rule. A second run of the found seed breaks the same invariant.
func TestBugsAreFound(t *testing.T) {
	for i, name := range small {
		if !longtest.Row(i, 8) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			e, program := hunter(t, name)
			h := mutants.Hunt{Arena: e.Hunt.Arena, NMax: e.Hunt.NMax, First: 1, Time: 30 * time.Second, Workers: 2}
			f, err := runHunter(program, h)
			require.NoError(t, err)
			require.True(t, f.Found(), "not found in %d runs, %v", f.Runs, f.Took)
			assert.True(t, e.Hunt.Expects(f.Invariant), "found by %s, want one of %v: %s", f.Invariant, e.Hunt.Breaks, f.Text)
			t.Logf("%s after %d runs, %v", f.Invariant, f.Runs, f.Took)
			h.First, h.Runs, h.Workers = f.Seed, 1, 1
			again, err := runHunter(program, h)
			require.NoError(t, err)
			assert.Equal(t, f.Invariant, again.Invariant)
		})
	}
}

// TestCanaryDiesAtOnce: the canary is found within five runs from any first seed. A single run
// may miss the canary, if all but one process die before they call anything.
func TestCanaryDiesAtOnce(t *testing.T) {
	canary, program := hunter(t, edits.Canary)
	for first := range uint64(50) {
		f, err := runHunter(program, mutants.Hunt{Arena: canary.Hunt.Arena, First: 1000 * first, Runs: 5, Workers: 1})
		require.NoError(t, err)
		assert.True(t, canary.Hunt.Expects(f.Invariant), "from seed %d: %+v", 1000*first, f)
	}
}

// TestArenasAreThere: the hunter has the arena of each bug, and no invariant breaks there while
// no bug is planted.
func TestArenasAreThere(t *testing.T) {
	done := map[string]bool{}
	for _, e := range edits.All() {
		if h := e.Hunt; h.Arena != "" && !done[h.Arena] {
			done[h.Arena] = true
			f, err := mutants.Hunt{Arena: h.Arena, NMax: h.NMax, First: 1, Runs: 5, Workers: 1}.Do()
			require.NoError(t, err)
			assert.False(t, f.Found(), "%s, seed %d: %s", h.Arena, f.Seed, f.Text)
		}
	}
}

// TestPlant: plant writes one bug for the go command, and refuses more or fewer than one.
func TestPlant(t *testing.T) {
	root, err := edits.Root()
	require.NoError(t, err)
	j := job{root: root, write: filepath.Join(t.TempDir(), "a6"), names: regexp.MustCompile("A6")}
	require.NoError(t, j.plant())
	overlay, err := os.ReadFile(filepath.Join(j.write, "overlay.json"))
	require.NoError(t, err)
	assert.Contains(t, string(overlay), "era/agreement.go")
	for _, names := range []string{"A6.?", "none"} {
		j.names = regexp.MustCompile(names)
		assert.ErrorContains(t, j.plant(), "want one")
	}
}
