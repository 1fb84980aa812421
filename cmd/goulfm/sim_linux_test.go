package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSim runs some simulated clusters and replays one: the same seed is the same run.
func TestSim(t *testing.T) {
	small := filepath.Join("..", "..", "internal", "testing", "sim", "cluster", "testdata", "a8.txt")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sim", "-seed", "1", "-agreements-total", "300"}, 0, `seed 1, \d+ workers\n\d+ runs, \d+ agreements(?s).*no violation\n$`},
		{[]string{"sim", "-seed", "1", "-agreements-total", "1", "-deaths-total", "5", "-v", "-workers", "1"}, 0, `seed 1: trace hash .* n=\d+ .* detector=`},
		{[]string{"sim", "-seed", "1", "-agreements-total", "1", "-workers", "1", "-matrix"}, 1, `crash mid-send  (?s).*never hit`},
		{[]string{"sim", "-replay", "5", "-nmax", "4"}, 0, `\* +\| .* decides (?s).*trace hash [0-9a-f]{16}: \d+ agreements`},
		{[]string{"sim", "-replay", "5", "-nmax", "4", "-events"}, 0, `calls agree/1 on`},
		{[]string{"sim", "-replay", "5", "-nmax", "4", "-shrink"}, 0, `nothing to shrink`},
		{[]string{"sim", "-run", small}, -1, `trace hash (?s).*n=\d `},
		{[]string{"sim", "-exhaustive", "-n", "2"}, 0, `shrink n=2 f=1 +\d+ states, +\d+ ends(?s).*no violation\n$`},
		{[]string{"sim", "-exhaustive", "-n", "9"}, 2, `want at most`},
		{[]string{"sim", "-repairs", "20", "-seed", "1", "-v", "-workers", "1"}, 0, `seed 1: trace hash .*\n(?s).*\d+ runs, \d+ repairs.*no violation\n$`},
		{[]string{"sim", "-repairs", "1", "-replay", "5", "-n", "4", "-events"}, 0, `calls shrink on (?s).*trace hash [0-9a-f]{16}: \d+ repairs, .* n=4 (?s).*no violation\n$`},
		{[]string{"sim", "-repairs", "1", "-n", "17"}, 2, `want 1 to 16`},
		{[]string{"sim", "-nodes", "10", "-seed", "1", "-v", "-workers", "1"}, 0, `seed 1: trace hash .*\n(?s).*10 runs, \d+ agreements.*no violation\n$`},
		{[]string{"sim", "-nodes", "1", "-replay", "5", "-n", "3", "-faults", "none", "-events", "-shrink"}, 0, `(?s)calls \w+/1 on .*trace hash [0-9a-f]{16}: \d+ agreements, 0 faults, .*\nnothing to shrink\nno violation\n$`},
		{[]string{"sim", "-nodes", "1", "-n", "9"}, 2, `want 2 to 8`},
		{[]string{"sim", "-nodes", "1", "-faults", "x"}, 2, `-faults x: want numbers`},
		{[]string{"sim", "-n", "1"}, 2, `-n 1: want 2 to 64`},
		{[]string{"sim", "-agreements-total", "0"}, 2, `--agreements-total 0: want at least 1`},
		{[]string{"sim", "-detector", "none"}, 2, `detector "none"`},
		{[]string{"sim", "-run", "no such file"}, 2, `no such file`},
		{[]string{"sim", "-x"}, 2, `-x: no such flag`},
		{[]string{"sim", "now"}, 2, `unexpected argument "now"`},
		{[]string{"sim", "-h"}, 0, `-replay SEED`},
	} {
		cmd := limited(t, goulfm, c.args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); c.code >= 0 && code != c.code || !regexp.MustCompile(c.want).Match(out) {
			t.Errorf("goulfm %v: code %d, want %d and %q:\n%s", c.args, code, c.code, c.want, out)
		}
	}
	replay := func() string {
		out, err := limited(t, goulfm, "sim", "-replay", "9").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if a, b := replay(), replay(); a != b {
		t.Error("two replays of one seed differ")
	}
}

// TestSimDraws: the picture has a line for each process, and the page contains the picture.
func TestSimDraws(t *testing.T) {
	dir := t.TempDir()
	svg, html := filepath.Join(dir, "a.svg"), filepath.Join(dir, "a.html")
	if out, err := limited(t, goulfm, "sim", "-replay", "5", "-n", "3", "-svg", svg, "-html", html).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	picture, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(picture), `stroke="#bbb"`); n != 3 || !strings.HasSuffix(string(picture), "</svg>\n") {
		t.Errorf("%d processes drawn", n)
	}
	page, err := os.ReadFile(html)
	if err != nil || !strings.Contains(string(page), string(picture)) {
		t.Errorf("the page lacks the picture: %v", err)
	}
}
