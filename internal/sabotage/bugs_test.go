package sabotage

import (
	"slices"
	"testing"

	"github.com/goulfm/goulfm/internal/must"
)

// TestTheList: each bug is told apart, says what it leaves out, and leaves something
// out.
func TestTheList(t *testing.T) {
	bugs := Bugs()
	if len(bugs) < 20 || bugs[0].Name != Canary {
		t.Errorf("%d bugs, the first is %q", len(bugs), bugs[0].Name)
	}
	var names []string
	for _, b := range bugs {
		if slices.Contains(names, b.Name) {
			t.Errorf("two bugs are called %q", b.Name)
		}
		names = append(names, b.Name)
		if b.Rule == "" || len(b.Breaks) == 0 || b.arena == nil {
			t.Errorf("%q is incomplete: %+v", b.Name, b)
		}
		if none := (Bug{}); b.Flaws == none.Flaws && b.Matching == none.Matching {
			t.Errorf("%q leaves nothing out", b.Name)
		}
	}
	// Other implementations' variants that are known to be wrong.
	for _, want := range []string{"A5", "A6", "A10-never", "A14-madeup", "B6", "A23"} {
		if !slices.Contains(names, want) {
			t.Errorf("no bug %q", want)
		}
	}
}

// TestNothingIsPlantedWithoutTheTag: a build for production does not listen to
// flaws, not even the canary's.
func TestNothingIsPlantedWithoutTheTag(t *testing.T) {
	if must.Sabotage {
		t.Skip("this build has the tag")
	}
	for _, b := range Bugs() {
		for seed := range uint64(5) {
			if fail := b.Run(seed + 1); fail != nil {
				t.Fatalf("%s, seed %d: %v", b.Name, seed+1, fail)
			}
		}
	}
}
