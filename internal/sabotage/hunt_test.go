//go:build sabotage

package sabotage

import (
	"slices"
	"testing"
	"time"
)

// small is what CI hunts: the canary and five more, of all layers.
var small = []string{Canary, "A5", "A6", "B4", "B20", "order"}

// TestBugsAreFound: with a rule left out the same seeds that pass with it break the
// invariant that the rule is there for.
func TestBugsAreFound(t *testing.T) {
	for _, b := range Bugs() {
		if !slices.Contains(small, b.Name) {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			f := b.Hunt(1, Limits{Time: 30 * time.Second, Workers: 2})
			switch {
			case !f.Found():
				t.Fatalf("not found in %d runs, %v", f.Runs, f.Took)
			case !b.Expected(f):
				t.Errorf("found by %s, want one of %v: %s", f.Invariant, b.Breaks, f.Text)
			}
			t.Logf("%s after %d runs, %v", f.Invariant, f.Runs, f.Took)
			if again := b.Run(f.Seed); again == nil || again.invariant != f.Invariant {
				t.Errorf("seed %d again: %v", f.Seed, again)
			}
		})
	}
}

// TestCanaryDiesAtOnce: wherever a hunt begins, the canary is found within five runs.
// A single run may miss it, if all but one process die before they call anything.
func TestCanaryDiesAtOnce(t *testing.T) {
	canary := Bugs()[0]
	for first := range uint64(100) {
		if f := canary.Hunt(1000*first, Limits{Runs: 5, Workers: 1}); !canary.Expected(f) {
			t.Errorf("from seed %d: %+v", 1000*first, f)
		}
	}
}

// TestLimits: a hunt for what is not there ends.
func TestLimits(t *testing.T) {
	none := Bug{arena: matching}
	if f := none.Hunt(1, Limits{Runs: 50, Workers: 2}); f.Found() || f.Runs < 50 || f.Runs > 51 {
		t.Errorf("%+v", f)
	}
	if f := none.Hunt(1, Limits{Time: 10 * time.Millisecond, Workers: 1}); f.Found() || f.Took > 10*time.Second {
		t.Errorf("%+v", f)
	}
}
