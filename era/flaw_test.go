//go:build sabotage

package era

import (
	"strings"
	"testing"
)

// TestFlawsAreFound: the random driver that finds nothing wrong with the rules finds
// each rule left out, and for the reason that the rule is there.
func TestFlawsAreFound(t *testing.T) {
	for _, c := range []struct {
		flaw  Flaw
		kind  string
		bound uint64 // the least seed that shows it is well below
		long  bool
	}{
		{FlawA1, "agreement:", 20000, false},
		{FlawA5b, "R36:", 2000, false},
		{FlawA6, "agreement:", 1000, false},
		{FlawA8, "termination:", 100, false},
		{FlawA9, "termination:", 20000, false},
		{FlawA10, "termination:", 20000, false},
		{FlawA12, "termination:", 100, true},
		{FlawPaper, "termination:", 1000, false},
	} {
		t.Run(c.flaw.String(), func(t *testing.T) {
			seed, err := sweep(c.bound, func(seed uint64) *driver {
				d := newDriver(seed, Config{Flaw: c.flaw})
				if c.long {
					d.long()
				}
				return d
			})
			if err == nil {
				t.Fatalf("none of %d schedules shows the flaw", c.bound)
			}
			if !strings.HasPrefix(err.Error(), c.kind) {
				t.Errorf("got %v, want %s", err, c.kind)
			}
			t.Logf("seed %d: %s", seed, strings.SplitN(err.Error(), "\n", 2)[0])
		})
	}
}
