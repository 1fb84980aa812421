package mutants

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var runs = flag.Int("runs", 300, "runs of each arena with all rules in place")

// TestRulesHold: the arenas report no false alarms. With all rules in place no run of any arena
// fails, from the very seeds with which bugs are hunted. Clusters in the wild are left to the
// tests of package sim/cluster.
func TestRulesHold(t *testing.T) {
	for name := range arenas {
		if name == "wild" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Hunt{Arena: name, First: 1, Runs: *runs, Workers: 1}.Do()
			require.NoError(t, err)
			assert.False(t, f.Found(), "seed %d: %s", f.Seed, f.Text)
		})
	}
}

// TestLimits: a hunt without a bug ends at its limit, and a hunt with invalid parameters is
// refused.
func TestLimits(t *testing.T) {
	f, err := Hunt{Arena: "matching", First: 1, Runs: 50, Workers: 2}.Do()
	require.NoError(t, err)
	assert.False(t, f.Found())
	assert.Contains(t, []int{50, 51}, f.Runs)

	f, err = Hunt{Arena: "matching", Time: 1, Workers: 1}.Do()
	require.NoError(t, err)
	assert.Equal(t, 1, f.Runs)

	for _, h := range []Hunt{{Arena: "moon", Workers: 1}, {Arena: "matching"}} {
		_, err := h.Do()
		assert.Error(t, err)
	}
}

// TestWhatFails: a run that fails or panics is reported with its seed. Of several such runs the
// least seed is reported.
func TestWhatFails(t *testing.T) {
	defer delete(arenas, "test")
	arenas["test"] = func(seed uint64, _ Hunt) *failure {
		switch {
		case seed == 9:
			panic("a rule's own assertion")
		case seed > 9:
			return &failure{"I1", "broken"}
		}
		return nil
	}
	for first, want := range map[uint64]Finding{
		1:  {Runs: 9, Seed: 9, Invariant: "assert", Text: "a rule's own assertion"},
		12: {Runs: 1, Seed: 12, Invariant: "I1", Text: "broken"},
	} {
		f, err := Hunt{Arena: "test", First: first, Workers: 1}.Do()
		require.NoError(t, err)
		f.Took = 0
		assert.Equal(t, want, f)
	}
}
