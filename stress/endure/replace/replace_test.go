package replace

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goulfm/goulfm/internal/testing/harness/trial"
)

func TestMain(m *testing.M) { trial.RunTests(m, Main, "replace") }

func TestFlags(t *testing.T) {
	trial.CheckFlags(t, parse, map[string]bool{
		"": true, "-rounds 3 -n 2": true, "-rank -seed 2": true, "-n 1": false, "-rounds 0": false, "-rounds 100000": true, "x": false, "-frob": false,
	})
}

// TestSpecR1R59LostAndReplaced runs some rounds as a user does, with both agreements.
func TestSpecR1R59LostAndReplaced(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 3
	}
	for _, launch := range []string{"", "--agree era"} {
		o, err := parse([]string{"-rounds", fmt.Sprint(rounds), "-seed", "1", "-timeout", "60s", "-launch", launch}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code, err := drive(o, &out); code != 0 || err != nil {
			t.Errorf("code %d, %v\n%s", code, err, &out)
		}
		if want := fmt.Sprintf("jobs=1 right=1 deaths=%d ", rounds); !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// The check must detect each kind of fault.
func TestCheckSees(t *testing.T) {
	death := `{"event":"death","rank":1,"cause":"killed (SIGKILL)"}` + "\n"
	for _, c := range []struct {
		name string
		r    trial.Result
		good bool
	}{
		{"right", trial.Result{Stdout: "replace: 1 rounds; fine\n", Stderr: death}, true},
		{"nobody died", trial.Result{Stdout: "replace: 1 rounds; fine\n"}, false},
		{"silent", trial.Result{Stderr: death}, false},
		{"said twice", trial.Result{Stdout: "replace: 1 rounds\nreplace: 1 rounds\n", Stderr: death}, false},
	} {
		if bad := check(&c.r, 1, io.Discard); (bad == "") != c.good {
			t.Errorf("%s: %q", c.name, bad)
		}
	}
}
