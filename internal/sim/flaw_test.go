package sim

import (
	"errors"
	"flag"
	"runtime"
	"testing"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/must"
)

var hunt = flag.Bool("hunt", false, "hunt the planted bugs that take seconds to find, too")

// flaws are the rules that are left out, one at a time. Small worlds show them
// best: 2 to 8 processes.
func flaws() []plantedBug {
	return []plantedBug{
		{name: "A1", flaws: control.Flaws{Agreement: era.FlawA1}, rare: true},
		{name: "A5b", flaws: control.Flaws{Agreement: era.FlawA5b}},
		{name: "A6", flaws: control.Flaws{Agreement: era.FlawA6}},
		{name: "A8", flaws: control.Flaws{Agreement: era.FlawA8}},
		{name: "A9", flaws: control.Flaws{Agreement: era.FlawA9}, rare: true},
		{name: "A10", flaws: control.Flaws{Agreement: era.FlawA10}, rare: true},
		{name: "A12", flaws: control.Flaws{Agreement: era.FlawA12}},
		{name: "paper", flaws: control.Flaws{Agreement: era.FlawPaper}},
		{name: "B4", flaws: control.Flaws{DropEarlyRevoke: true}},
	}
}

type plantedBug struct {
	name  string
	flaws control.Flaws
	rare  bool // takes thousands of runs
}

// TestFlawsAreFound: the runs that pass with all rules must break something when
// one rule is left out.
func TestFlawsAreFound(t *testing.T) {
	const runs, runsRare = 2_000, 30_000
	for _, bug := range flaws() {
		t.Run(bug.name, func(t *testing.T) {
			if !must.Sabotage {
				t.Skip("needs -tags sabotage")
			}
			limit := runs
			if bug.rare {
				limit = runsRare
			}
			if bug.rare && !*hunt {
				t.Skip("takes seconds: use -hunt")
			}
			o := Options{Seed: *seed, NMax: 8, Flaws: bug.flaws}
			total, err := RunMany(o, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= limit })
			var v *Violation
			if !errors.As(err, &v) {
				t.Fatalf("not found in %d runs", total.Runs)
			}
			t.Logf("found after %d runs by %s: %.200s", total.Runs, v.Invariant, v.Text)
		})
	}
}

// TestRulesHoldWhereFlawsFail runs the very seeds of TestFlawsAreFound with all
// rules in place: what finds the bugs must not cry wolf.
func TestRulesHoldWhereFlawsFail(t *testing.T) {
	total, err := RunMany(Options{Seed: *seed, NMax: 8}, runtime.NumCPU(), func(sum Total) bool { return sum.Runs >= 150 })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", total)
}
