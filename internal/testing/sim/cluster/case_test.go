package cluster

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	planted = flag.String("planted", "", "the bug of this build that TestShrink is to shrink")
	update  = flag.Bool("update", false, "rewrite its script")
)

// TestCaseIsTheRun: the faults that happened, given as a script, produce the same run, byte for
// byte.
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

// shrinks are the planted bugs that demonstrate shrinking, each in runs of many processes that use
// all features.
var shrinks = map[string]struct {
	rule   string
	n      int
	change func(w *swarm)
}{
	"a8": {"a new root forgets who had contributed", 24, func(*swarm) {}},
	"r15": {"a gathering that ends with \"revoked\" does not revoke its parent", 42, func(w *swarm) {
		w.deaths, w.revokes, w.gatherings, w.traffic, w.agreements = 36, 40, 3, 3, 10
	}},
}

// TestShrink: a failing run of many processes shrinks to at most 10 faults, 8 processes and 10
// calls within a minute, and breaks the same invariant.
func TestShrink(t *testing.T) {
	if *planted == "" {
		t.Skip("needs a build with a bug, and -planted: internal/testing/mutants/edits")
	}
	x, known := shrinks[*planted]
	require.True(t, known, *planted)
	var v *Violation
	for seed := *seed; v == nil; seed++ {
		o := Options{Seed: seed, N: x.n, Detector: Exact, Agree: Era}
		w := newSimulation(o).swarm
		x.change(&w)
		o.like = &w
		_, err := Run(o)
		v, _ = errors.AsType[*Violation](err)
	}
	small := Shrink(v, time.Minute)
	calls := len(small.Case.planned())
	t.Logf("from %d processes, %d faults and %d calls to %d, %d and %d in %d tries:\n%s", v.Case.N(), len(v.Case.Faults), len(v.Case.planned()), small.Case.N(), len(small.Case.Faults), calls, small.Tries, small.Case.Script())
	assert.LessOrEqual(t, len(small.Case.Faults), 10, "faults")
	assert.LessOrEqual(t, small.Case.N(), few, "processes")
	assert.LessOrEqual(t, calls, 10, "calls")
	assert.Equal(t, v.Invariant, small.Error.Invariant)
	if *update {
		text := "# The planted bug " + strings.ToUpper(*planted) + ", shrunk: " + x.rule + ".\n" + small.Case.Script()
		require.NoError(t, os.WriteFile("testdata/"+*planted+".txt", []byte(text), 0o666))
	}
}

// TestScripts replays shrunk runs. Each breaks something in a build with the bug that the
// script names, and nothing with all rules in place.
func TestScripts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			c, err := ParseCase(string(text))
			require.NoError(t, err)
			require.NotEmpty(t, c.Breaks)
			_, err = c.Run(Options{})
			require.NoError(t, err)
		})
	}
}

// FuzzParseCase: no text makes ParseCase panic, and a script written from an accepted case reads
// the same again.
func FuzzParseCase(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("part of 42 names 6,22,36\npart roll 58646375f30d6aa3084bd39a799a60b0 0,1,2\npart skip 58646375f30d6aa3084bd39a799a60b0 gather 1\npart delays 7")
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
