package main

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestSim runs some simulated clusters and replays one: the same seed is the
// same run.
func TestSim(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sim", "-seed", "1", "-agreements-total", "300"}, 0, `seed 1, \d+ workers\n\d+ runs, \d+ agreements(?s).*no violation\n$`},
		{[]string{"sim", "-replay", "5", "-nmax", "4"}, 0, `trace hash [0-9a-f]{16}: \d+ agreements`},
		{[]string{"sim", "-n", "1"}, 2, `-n 1: want 2 to 64`},
		{[]string{"sim", "-agreements-total", "0"}, 2, `out of range`},
		{[]string{"sim", "-x"}, 2, `not defined: -x`},
		{[]string{"sim", "now"}, 2, `unexpected argument "now"`},
		{[]string{"sim", "-h"}, 0, `-replay SEED`},
	} {
		cmd := exec.CommandContext(t.Context(), goulfm, c.args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !regexp.MustCompile(c.want).Match(out) {
			t.Errorf("goulfm %v: code %d, want %d and %q:\n%s", c.args, cmd.ProcessState.ExitCode(), c.code, c.want, out)
		}
	}
	replay := func() string {
		out, err := exec.CommandContext(t.Context(), goulfm, "sim", "-replay", "9").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if a, b := replay(), replay(); a != b {
		t.Error("two replays of one seed differ")
	}
}
