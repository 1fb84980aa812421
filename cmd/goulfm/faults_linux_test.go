package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlannedFaultsThatDoNotHappen: the event log names each planned fault that did not happen, and
// with --kill-must the exit code is 7. A fault that happened is not listed.
func TestPlannedFaultsThatDoNotHappen(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"-n 2 --kill 1@nosuch=3 PROG ring", `--kill 1@nosuch=3 did not happen: rank 1 did not call Mark("nosuch", 3)`, 0},
		{"-n 2 --kill 9@step=1 PROG ring", `--kill 9@step=1 did not happen: rank 9 did not call Mark("step", 1)`, 0},
		{"-n 2 --kill 1@10m PROG ring", "--kill 1@10m did not happen: the job ended first", 0},
		{"--host 2 --kill node1@nosuch=3 PROG ring", `--kill node1@nosuch=3 did not happen: no rank of node 1 called Mark("nosuch", 3)`, 0},
		{"--host 2 --stop node1@10m+1s PROG ring", "--stop node1@10m+1s did not happen: the job ended first", 0},
		{"--host 2 --cut 0/1@10m+1s PROG ring", "--cut 0/1@10m+1s did not happen: the job ended first", 0},
		{"-n 2 --kill-must --kill 1@nosuch=3 PROG ring", "2 of 2 ranks finished, 1 planned fault did not happen (--kill-must), 0 ranks lost; exit code 7", 7},
		{"-n 6 --kill-must --kill 2@step=1 --kill 5@step=1 PROG recover", "", 0},
		{"-n 6 --kill-must --kill 2@step=1 --kill 2@step=2 PROG recover", "--kill 2@step=2 did not happen", 7},
		{"-n 2 --kill-must PROG ring", "", 0},
		{"-n 2 --kill 20@step=1 PROG ring", "--kill 20@step=1: the job can have ranks 0 to 19 (--universe)", 2},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "PROG", prog))
		got := goulfmCommand(t, "", append([]string{"run"}, args...)...)
		require.Equal(t, c.code, got.code, "%s\n%s", c.args, got.err)
		require.Contains(t, got.err, c.want, c.args)
		if c.want == "" {
			require.NotContains(t, got.err, "did not happen", c.args)
		}
	}
}

// TestRingReplacesNobody: with --detector ring no rank is replaced. The event log states this at
// the start of a job with planned deaths, and when a program requests a replacement.
func TestRingReplacesNobody(t *testing.T) {
	const remedy = "replacement needs exact detection: run without --detector ring"
	heat := build(t, "../../examples/heat")
	got := goulfmCommand(t, "", "run", "-n", "3", "--detector", "ring", "--kill", "1@step=20", heat)
	require.Equal(t, 1, got.code, got.err)
	require.Contains(t, got.err, "a rank that dies is not replaced: "+remedy)
	require.Regexp(t, `goulfm: rank \d: too few processes: .*`+remedy, got.err)
}

// TestACutElsewhereHidesNoDeath: a planned cut between two nodes changes nothing for the others.
// The daemon of a third node is killed, and its port refuses connections. That reveals the death at
// once, although a silent node would be declared dead only after ten minutes.
func TestACutElsewhereHidesNoDeath(t *testing.T) {
	heat := build(t, "../../examples/heat")
	for _, cut := range []string{"0/1@10m+1s", "2>1@10m+1s"} {
		got := goulfmCommand(t, "", "run", "--host", "3", "--ppn", "1", "--timeout-factor", "6000", "--link-timeout", "11m", "--orphan-after", "11m", "--timeout", "1m", "--cut", cut, "--kill", "node2@step=20", heat, "-steps", "40")
		require.Zero(t, got.code, got.err)
		assert.Contains(t, got.err, "node 2 (local2) is lost")
	}
}
