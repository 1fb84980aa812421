package sim

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goulfm/goulfm/era"
	"github.com/goulfm/goulfm/internal/control"
	"github.com/goulfm/goulfm/internal/must"
)

var update = flag.Bool("update", false, "shrink the planted bug again and rewrite its script")

// TestCaseIsTheRun: the faults that happened, given as a script, are the same run
// down to each byte.
func TestCaseIsTheRun(t *testing.T) {
	faults := 0
	for seed := range uint64(40) {
		s := newSimulation(Options{Seed: seed, NMax: 12})
		report := s.run()
		if s.violation != nil {
			t.Fatal(s.violation)
		}
		c, err := ParseCase(s.caseOf().Script())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.caseOf().Script())
		}
		again, err := c.Run(Options{})
		if err != nil || again != report {
			t.Errorf("seed %d: %+v, then %+v, error %v\n%s", seed, report, again, err, c.Script())
		}
		faults += len(c.Faults)
	}
	if faults < 40 {
		t.Errorf("%d faults in all: too tame", faults)
	}
}

// planted is the bug on which shrinking is shown. It needs no rare schedule.
var planted = control.Flaws{Agreement: era.FlawA8}

// TestShrink: a failing run comes down to at most 10 faults and 8 processes within
// a minute, and breaks the same invariant.
func TestShrink(t *testing.T) {
	if !compiledIn() {
		t.Skip("needs -tags sabotage")
	}
	var v *Violation
	for seed := *seed; v == nil; seed++ {
		_, err := Run(Options{Seed: seed, N: 24, Flaws: planted})
		v, _ = errors.AsType[*Violation](err)
	}
	small := Shrink(v, time.Minute)
	t.Logf("from %d processes and %d faults to %d and %d in %d tries:\n%s", v.Case.N(), len(v.Case.Faults), small.Case.N(), len(small.Case.Faults), small.Tries, small.Case.Script())
	if len(small.Case.Faults) > 10 || small.Case.N() > 8 || small.Error.Invariant != v.Invariant {
		t.Errorf("%d faults, %d processes, %v", len(small.Case.Faults), small.Case.N(), small.Error)
	}
	if *update {
		text := "# The planted bug A8, shrunk: a new root forgets who had contributed.\n" + small.Case.Script()
		if err := os.WriteFile("testdata/a8.txt", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestScripts replays shrunk runs. Each breaks what it says with the rule left out
// that it names, and nothing with all rules in place.
func TestScripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	if len(files) == 0 {
		t.Fatal("no scripts")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ParseCase(string(text))
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Run(Options{})
			v, failed := errors.AsType[*Violation](err)
			if compiledIn() && c.Breaks != "" && (!failed || v.Invariant != c.Breaks) {
				t.Errorf("want %s, got %v\n(if the rules have changed, find and shrink it anew: goulfm sim -flaws ... -shrink -script)", c.Breaks, err)
			}
			c.Flaws = control.Flaws{}
			if _, err := c.Run(Options{}); err != nil {
				t.Errorf("with all rules: %v", err)
			}
		})
	}
}

// compiledIn says whether rules can be left out in this build.
func compiledIn() bool { return must.Sabotage }

// FuzzParseCase: no text makes ParseCase panic, and what it accepts it writes so
// that it reads the same again.
func FuzzParseCase(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("fault slow proc=1 step=2 for=1ms off=2us times=3\nfault stall peers=18446744073709551615\nwatchdog 1e300s")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCase(text)
		if err != nil {
			return
		}
		again, err := ParseCase(c.Script())
		if err != nil || again.Script() != c.Script() {
			t.Errorf("%v\n%s\nbecomes\n%s", err, c.Script(), again.Script())
		}
	})
}
