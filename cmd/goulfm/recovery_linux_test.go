package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goulfm/goulfm/internal/testing/longtest"
)

// TestRecoveryOverProcesses: examples/heat has the same result under each plan of kills: of several
// processes, at points of the program and of the repair, and with agreements by messages.
func TestRecoveryOverProcesses(t *testing.T) {
	const heat = "../../examples/heat"
	run := func(more ...string) (result, string) {
		args := append([]string{"run", "-n", "6", "--timeout", "60s"}, more...) // plans with --host keep these flags
		r := goulfmCommand(t, "", append(args, heat, "-nx", "40", "-ny", "40", "-steps", "60", "-every", "5", "-print", "0")...)
		return r, strings.Split(r.out, "\n")[0]
	}
	r, want := run()
	assert.Equal(t, 0, r.code, r.err)
	assert.Regexp(t, "^result: steps=60 ", want)
	for i, plan := range []string{
		"--kill 3@step=40",
		"--kill 0@step=20",
		"--kill 0@step=20 --agree era",
		"--kill 0@step=20 --kill 1@step=20",
		"--kill 2@step=30 --kill 1@repair.shrink=1",
		"--kill 2@step=30 --kill 0@repair.replace=1",
		"--kill 2@step=30 --kill 0@repair.replace=1 --agree era",
		"--kill 2@step=30 --kill 1@restore.move=1",
		"--kill 0@step=30 --kill 6@step=45", // the replacement, too
		"--kill 1@commit.send=2 --kill 3@commit.copy=4",
		"--kill 0@report=60",
		"--kill 1@step=40 --kill 4@step=40", // both ranks of a pair: the memory of the node still holds their copies
		"--kill 0@step=40 --kill 1@step=40 --kill 2@step=40 --kill 3@step=40 --kill 5@step=40",
		"--kill 1@commit.keep=3 --kill 4@commit.keep=3 --agree era",
		"--host 3 --ppn 2 --kill 1@step=40 --kill 4@step=40",
		"--host 3 --ppn 2 --kill node1@step=20 --kill node0@step=40", // on which more than half of the ranks are by then
		"--host 2 --ppn 3 --kill 0@step=20 --kill 3@step=40 --kill 5@repair.replace=1",
		"--spares 2 --kill 3@step=40",
		"--spares 1 --kill 3@step=20 --kill 1@step=40 --kill 0@step=55",
		"--spares 2 --kill 2@step=30 --kill 0@repair.replace=1",
		"--spares 1 --kill 0@step=30 --kill 6@step=45",
		"--spares 1 --kill 1@step=30 --kill 6@repair.joined=1",
		"--spares 2 --host 3 --ppn 2 --kill 1@step=30 --kill 4@step=45",
	} {
		if !longtest.Row(i, 8) {
			continue
		}
		r, got := run(strings.Fields(plan)...)
		assert.Equal(t, 0, r.code, "%s\n%s", plan, r.err)
		assert.Equal(t, want, got, plan)
		assert.Regexp(t, regexp.MustCompile(`recovery: .*rank \d is served by process \d+`), r.err, plan)
	}
}

// TestMembersOverTwoDeathsOfProcesses: a rank dies at a mark of its first attempt, and then another
// rank, or the successor, dies at a mark of the repair. Static and forward members still have the
// data of their rank. With -kill.all all pairs run, otherwise one pair of five.
func TestMembersOverTwoDeathsOfProcesses(t *testing.T) {
	longtest.Skip(t, "some dozen jobs")
	prog := build(t, "./testdata/prog")
	marks := []string{"repair.shrink=1", "repair.replace=1", "restore.plan=2", "restore.move=2", "restore.done=2", "repair.agree=3", "repair.agree=4", "commit.copy=5"}
	var seconds []string
	for _, mark := range marks {
		seconds = append(seconds, "3@"+mark)
	}
	for _, mark := range []string{"repair.joined=1", "restore.plan=1", "restore.move=1", "restore.done=1", "repair.agree=1", "commit.copy=1"} {
		seconds = append(seconds, "4@"+mark) // the successor
	}
	for i, first := range []string{"0@step=21", "2@commit.send=4", "1@restore.move=1", "0@restore.done=1", "2@repair.agree=1"} {
		for k, second := range seconds {
			if (i+k)%5 > 0 && !*killAll {
				continue
			}
			r := goulfmCommand(t, "", "run", "-n", "4", "--timeout", "60s", "--kill", first, "--kill", second, prog, "members")
			assert.Equal(t, 0, r.code, "%s, %s: %s", first, second, r.err)
			assert.Equal(t, "result: 40 604\n", r.out, "%s, %s: %s", first, second, r.err)
		}
	}
}

// TestSlotsAreUsedAgain: with one slot more than ranks a job replaces any number of ranks, one
// after another, its first ranks included. Without a free slot the job replaces no rank. -kill.all
// tries all sizes.
func TestSlotsAreUsedAgain(t *testing.T) {
	longtest.Skip(t, "some jobs that replace twenty ranks each")
	const deaths = 20
	prog := build(t, "./testdata/prog")
	for n := 2; n <= 8; n++ {
		for more := range 5 {
			if !*killAll && (n != 2 && n != 5 || more > 1) {
				continue
			}
			r := goulfmCommand(t, "", "run", "-n", fmt.Sprint(n), "--universe", fmt.Sprint(n+more), "--timeout", "60s", prog, "mortal", fmt.Sprint(deaths))
			if more == 0 {
				assert.Equal(t, 1, r.code, r.err)
				assert.Contains(t, r.err, "too few processes", "%d ranks", n)
				continue
			}
			assert.Equal(t, 0, r.code, "%d ranks, %d more: %s", n, more, r.err)
			assert.Equal(t, fmt.Sprintln("result:", deaths, n*(n-1)/2+n*deaths*(deaths+1)/2), r.out, "%d ranks, %d more: %s", n, more, r.err)
		}
	}
	r := goulfmCommand(t, "", "run", "--host", "2", "--ppn", "2", "--universe", "6", "--timeout", "60s", prog, "mortal", fmt.Sprint(deaths))
	assert.Equal(t, 0, r.code, r.err)
	assert.Equal(t, "result: 20 846\n", r.out, r.err)
}

// TestNodesAreLost: examples/s3d has the same result if whole nodes are lost with the memory that
// holds the commits of their ranks, because copies, or parity, are on other nodes. That holds for
// adjacent nodes, for the node of rank 0, for a node that is lost during the repair after another
// loss, and until all ranks are on the last node. If both nodes of a pair of copies are lost, the
// job fails.
func TestNodesAreLost(t *testing.T) {
	longtest.Skip(t, "ten jobs that lose nodes")
	s3d := build(t, "../../examples/s3d")
	run := func(plan, flags string) (result, string) {
		args := append([]string{"run", "--host", "4", "--ppn", "2", "--timeout", "60s"}, strings.Fields(plan)...)
		args = append(args, s3d, "-nx", "16", "-ny", "16", "-nz", "16", "-steps", "30", "-every", "5")
		r := goulfmCommand(t, "", append(args, strings.Fields(flags)...)...)
		return r, strings.Split(r.out, "\n")[0]
	}
	r, want := run("", "")
	assert.Equal(t, 0, r.code, r.err)
	assert.Regexp(t, "^result: steps=30 ", want)
	for _, c := range []struct {
		plan, flags string
		from        string // the version of the first repair
	}{
		{"--kill node2@step=17", "", "version 1.3 .step 15."},
		{"--spares 2 --kill node0@step=17", "", "version 1.3 .step 15."},
		{"--kill node2@step=17 --kill node0@repair.shrink=1", "-copies 2", "version 1.3 .step 15."},
		{"--kill node2@step=17 --kill node1@step=22 --kill node0@step=27", "", "version 1.3 .step 15."},
		{"--kill node2@step=17 --kill node0@repair.replace=1", "-data 2 -parity 2", "version 1.3 .step 15."},
		{"--kill node2@step=17 --kill node1@step=22 --kill node0@step=27", "-data 3 -parity 1", "version 1.3 .step 15."},
		{"--kill node1@step=3", "", "the beginning: nothing was committed"},
	} {
		r, got := run(c.plan, c.flags)
		assert.Equal(t, 0, r.code, "%s\n%s", c.plan, r.err)
		assert.Equal(t, want, got, c.plan)
		assert.Regexp(t, `recovery: .*rank \d is served by process \d+; 8 ranks back to `+c.from, r.err, c.plan)
		assert.Equal(t, strings.Count(c.plan, "--kill"), strings.Count(r.err, "is killed as planned, as rank"), "%s\n%s", c.plan, r.err)
	}
	r, _ = run("--kill node2@step=17 --kill node0@repair.shrink=1", "") // ranks i and i+4 keep each other's copies
	assert.Equal(t, 1, r.code, r.err)
	assert.Contains(t, r.err, "committed data are lost")
}

// TestRestart: when no rank is left, all ranks start anew, from the versions in the memory of the
// machine, or from files if that memory is lost with its node.
func TestRestart(t *testing.T) {
	heat := build(t, "../../examples/heat")
	run := func(args string, more ...string) result {
		all := append(append([]string{"run"}, strings.Fields(args)...), heat, "-nx", "40", "-ny", "40", "-steps", "60", "-every", "5", "-print", "10")
		return goulfmCommand(t, "", append(all, more...)...)
	}
	want := run("-n 1")
	require.Equal(t, 0, want.code, want.err)

	got := run("-n 1 --restart 2 --kill 0@step=47")
	assert.Equal(t, want, result{got.code, got.out, ""}, "no step is printed twice: it goes on from step 45. %s", got.err)
	assert.Contains(t, got.err, "0 of 1 ranks finished: too many lost, all start anew: restart 1 of 2, 1 rank lost")

	dir := t.TempDir()
	got = run("--host 2 --restart 1 --kill 0@step=47 --kill 1@step=47", "-dir", dir)
	assert.Equal(t, 0, got.code, got.err)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	assert.Contains(t, want.out, lines[len(lines)-1])

	out := t.TempDir()
	got = run("-n 1 --restart 1 --kill 0@step=47 --output-dir " + out)
	assert.Equal(t, 0, got.code, got.err)
	text, err := os.ReadFile(filepath.Join(out, "rank.0.out"))
	require.NoError(t, err)
	assert.Equal(t, want.out, string(text), "the second life prints behind the first")

	got = run("-n 1 --kill 0@step=47")
	assert.Equal(t, 4, got.code, "nobody has asked for a restart")
	for flags, says := range map[string]string{
		"-n 1 --restart -1":        "--restart -1: want 0 or more",
		"-n 1 --restart 1 --watch": "not with --watch",
		"--host 2 --survive-launcher --output-dir x --restart 1": "not with --survive-launcher",
	} {
		got = run(flags)
		assert.Equal(t, 2, got.code, flags)
		assert.Contains(t, got.err, says)
	}
}

// untilSaid runs a job, and sends its program a last line of input once a text has appeared on
// standard error.
func untilSaid(t *testing.T, after string, args ...string) result {
	t.Helper()
	cmd := limited(t, goulfm, patient(append([]string{"run"}, args...))...)
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var errs strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&errs, lines.Text())
		if in != nil && strings.Contains(lines.Text(), after) {
			_, err := in.Write([]byte("go on\n"))
			require.NoError(t, errors.Join(err, in.Close()))
			in = nil
		}
	}
	_ = cmd.Wait()
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// withSpares is untilSaid with the event log as JSON.
func withSpares(t *testing.T, after string, args ...string) result {
	t.Helper()
	return untilSaid(t, after, append([]string{"--report", "json"}, args...)...)
}

// TestSpares: a waiting spare replaces a rank, and no process is started for the rank. Unused
// spares end with the job, and do not count in its outcome. No more processes are started than
// --respawn allows.
func TestSpares(t *testing.T) {
	r := withSpares(t, `"event":"spare"`, "-n", "2", "--spares", "1", prog, "spares")
	assert.Equal(t, 0, r.code, r.err)
	assert.Contains(t, r.out, "replaced by a spare that is warm: true\n")
	assert.NotContains(t, r.err, `"event":"spawn"`)
	assert.Contains(t, r.err, "2 of 3 ranks finished")

	r = withSpares(t, `"event":"start"`, "-n", "2", prog, "spares")
	assert.Contains(t, r.out, "replaced by a spare that is warm: false\n")
	assert.Contains(t, r.err, `"event":"spawn"`)

	r = withSpares(t, `"event":"start"`, "-n", "2", "--respawn", "0", prog, "spares")
	assert.Equal(t, 1, r.code, r.err)
	assert.Contains(t, r.err, "no room")

	r = withSpares(t, "no input", "-n", "2", "--spares", "1", prog, "cold-spares")
	assert.Equal(t, 0, r.code, r.err)
	assert.Contains(t, r.err, "a spare makes itself ready: no input")
	assert.Contains(t, r.err, "2 of 2 ranks finished")

	for args, want := range map[string]string{
		"-n 2 --spares -1":                "--spares -1, --respawn 0: want 0 or more",
		"-n 2 --respawn -1":               "want 0 or more",
		"-n 2 --spares 1 --detector ring": "--spares 1: replacement needs exact detection: run without --detector ring",
		"-n 2 --spares 3 --universe 4":    "want at least the 2 ranks and 3 spares",
	} {
		r := goulfmCommand(t, "", append(append([]string{"run"}, strings.Fields(args)...), prog, "ring")...)
		assert.Equal(t, 2, r.code, args)
		assert.Contains(t, r.err, want, args)
	}
}
