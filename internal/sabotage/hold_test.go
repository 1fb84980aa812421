package sabotage

import (
	"flag"
	"testing"
)

var runs = flag.Uint64("runs", 300, "runs of each arena with all rules in place")

// TestRulesHold: what finds the bugs must not cry wolf. With all rules in place no
// run of any arena fails, from the very seeds with which bugs are hunted. Clusters in
// the wild are left to the tests of package sim.
func TestRulesHold(t *testing.T) {
	for name, run := range map[string]arena{
		"cluster": cluster, "rings": rings, "detectors": detectors, "islands": islands, "floods": floods, "matching": matching,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= *runs; seed++ {
				if fail := run(seed, &Bug{}); fail != nil {
					t.Fatalf("seed %d: %v", seed, fail)
				}
			}
		})
	}
}
