package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// goulfm and prog are the programs of most tests; builds is the folder of all built programs.
var goulfm, prog, builds string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if builds, err = os.MkdirTemp("", "goulfm-test-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(builds)
		for file, pkg := range map[*string]string{&goulfm: ".", &prog: "./testdata/prog"} {
			if *file, err = builtOnce(pkg); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return m.Run()
	}())
}

var built sync.Map // file and error of each package and flags, as sync.OnceValues gives them

// builtOnce compiles a program, once for all tests of this package, and returns its file.
func builtOnce(pkg string, flags ...string) (file string, err error) {
	once, _ := built.LoadOrStore(fmt.Sprint(pkg, flags), sync.OnceValues(func() (string, error) {
		dir, err := os.MkdirTemp(builds, "")
		if err != nil {
			return "", err
		}
		folder, err := filepath.Abs(pkg)
		if err != nil {
			return "", err
		}
		file := filepath.Join(dir, filepath.Base(folder))
		cmd := exec.Command("go", slices.Concat([]string{"build", "-o", file}, flags, []string{pkg})...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, text)
		}
		return file, nil
	}))
	return once.(func() (string, error))()
}

// build is builtOnce for a test.
func build(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	file, err := builtOnce(pkg, flags...)
	require.NoError(t, err)
	return file
}

type result struct {
	code     int
	out, err string
}

// hangs is the time limit of a job of these tests, on a machine that also has other work.
const hangs = 2 * time.Minute

// limited returns a command with a time limit. A command that hangs first gets SIGQUIT, after which
// the launcher prints the stacks of its ranks. After 4 s SIGABRT makes the runtime print the
// launcher's own stacks, and after 10 s the command is killed.
func limited(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	hung, cancel := context.WithTimeout(t.Context(), hangs)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(hung, name, args...)
	cmd.WaitDelay = 10 * time.Second
	cmd.Cancel = func() error {
		if hung.Err() != context.DeadlineExceeded {
			return cmd.Process.Kill()
		}
		t.Errorf("%s hangs", cmd)
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		time.AfterFunc(4*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGABRT) })
		return nil
	}
	return cmd
}

// patience makes a job on several nodes wait at least five seconds for a silent node. Tests without
// flags of their own for silent nodes do not measure how soon such a node is declared dead, and on
// a busy machine a daemon may pause for longer than the second or so of the default.
var patience = []string{"--timeout-factor", "50"}

// patient returns the arguments of goulfm, with patience if they start a job on several nodes and
// have no flag for silent nodes.
func patient(args []string) []string {
	hasNodes := func(arg string) bool { return arg == "--host" || arg == "--hostfile" }
	sayHowLong := func(arg string) bool {
		return slices.Contains([]string{"--period", "--timeout-factor", "--detection", "--confirm", "--detector", "--survive-launcher"}, arg)
	}
	if len(args) == 0 || args[0] != "run" || !slices.ContainsFunc(args, hasNodes) || slices.ContainsFunc(args, sayHowLong) {
		return args
	}
	return slices.Concat(args[:1], patience, args[1:])
}

// goulfmCommand runs goulfm with a limit that only a hang reaches.
func goulfmCommand(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	cmd := limited(t, goulfm, patient(args)...)
	cmd.Stdin = strings.NewReader(stdin)
	return outcome(t, cmd)
}

// outcome runs a command to its end.
func outcome(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s%s", err, &out, &errs)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), buildLine.ReplaceAllString(errs.String(), "")}
}

func TestExitCodesAndTexts(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args string
		code int
		out  string // regular expressions
		err  string
	}{
		{"run -n 1 PROG ring", 0, `^sum 0\n$`, `^$`},
		{"run -n 5 PROG ring", 0, `^sum 10\n$`, `^$`},
		{"run -n 40 PROG ring", 0, `^sum 780\n$`, `^$`},
		{"run -n 3 PROG panic", 2, `rank 0: recv on world from rank 1: process failed`, `rank 1: panic: boom(?s).*main\.go.*rank 1 \(pid \d+\) died: exit code 2; found by its`},
		{"run -n 3 PROG error", 1, ``, `goulfm: rank 1: bad thing\n(?s).*2 of 3 ranks finished, rank 1 failed: exit code 1, 1 rank lost; exit code 1\n$`},
		{"run -n 3 PROG all-error", 1, ``, `bad thing`},
		{"run -n 3 PROG exit0", 1, `rank 2: recv on world from rank 1`, `rank 1 .* died: exit without Finalize(?s).*rank 1 failed: exit without Finalize, 1 rank lost; exit code 1\n$`},
		{"run -n 3 PROG abort", 9, ``, `the job was stopped \(code 9\)`},
		{"run -n 4 PROG abort-some", 9, `rank 2: recv on world from rank 3`, `rank 1 .* died: killed(?s).*rank 3 failed: Abort\(9\), 2 ranks lost; exit code 9\n$`},
		{"run -n 4 --survive any PROG abort-some", 0, ``, `2 of 4 ranks finished, 2 ranks lost; exit code 0\n$`},
		{"run -n 2 PROG fatal", 1, ``, `send on world: rank out of range: 99(?s).*the job was stopped \(code 1\)`},
		{"run -n 2 -x GIVEN=here PROG env", 0, `^GIVEN=here boot=""\nGIVEN=here boot=""\n$`, `^$`},
		{"run -n 2 hostname", 0, `.+\n.+\n`, `^$`},
		{"run -n 2 false", 1, `^$`, `none came through Init`},
		{"run -n 2 /nonexistent/program", 127, ``, `no such program: give a file`},
		{"run -n 2 /etc/passwd", 126, ``, `not executable: chmod`},
		{"run -n 2 " + empty, 126, ``, `without Go files`},
		{"run -n 2", 2, ``, `no program`},
		{"run -n 0 PROG ring", 2, ``, `-n 0: want 1 to`},
		{"run -n x PROG ring", 2, ``, `goulfm run: -n x: want a whole number\n`},
		{"run --timeout 5 PROG ring", 2, ``, `goulfm run: --timeout 5: want a duration such as 5s\n`},
		{"run --spares x PROG ring", 2, ``, `goulfm run: --spares x: want a whole number\n`},
		{"run -n 2 run_linux_test", 127, ``, `run_linux_test: no such program: give a file`},
		{"help run", 0, `(?s)^usage: goulfm run.*Faults to inject.*`, `^$`},
		{"help nothing", 2, ``, `goulfm nothing: no such command`},
		{"run -n 2 --kill 5@1s PROG ring", 2, ``, `there are ranks 0 to 1`},
		{"run -n 2 --kill 1 PROG ring", 2, ``, `want RANK@DURATION`},
		{"run -n 2 --kill 1@soon PROG ring", 2, ``, `bad duration "soon"`},
		{"run -n 2 --kill 1@=3 PROG ring", 2, ``, `bad point`},
		{"run -n 2 --stdin 7 PROG ring", 2, ``, `want none, all, or a rank from 0 to 1`},
		{"run -n 2 --detector gossip PROG ring", 2, ``, `want exact or ring`},
		{"run -n 2 --detector ring --period 10ms PROG ring", 2, ``, `at least 200ms`},
		{"run -n 2 --report xml PROG ring", 2, ``, `want json`},
		{"run -n 2 --spares -2 PROG ring", 2, ``, `want 0 or more`},
		{"run --frobnicate PROG", 2, ``, `goulfm run: --frobnicate: no such flag\n`},
		{"sim --workers 0", 2, ``, `^goulfm sim: --workers 0: want at least 1\ngoulfm sim -h lists the flags\n$`},
		{"sim --nmax 1", 2, ``, `^goulfm sim: --nmax 1: want at least 2, or 0\n`},
		{"watch --sock x", 2, ``, `^goulfm watch: --sock: no such flag\ngoulfm watch -h lists the flags\n$`},
		{"new --back x", 2, ``, `^goulfm new: --back: no such flag\ngoulfm new -h lists the flags\n$`},
		{"frobnicate", 2, ``, `no such command`},
		{"run -h", 0, `--kill R@NAME=K`, `^$`},
		{"help", 0, `goulfm run`, `^$`},
		{"version", 0, `^goulfm .*go1`, `^$`},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "PROG", prog))
		got := goulfmCommand(t, "", args...)
		if got.code != c.code || !regexp.MustCompile(c.out).MatchString(got.out) || !regexp.MustCompile(c.err).MatchString(got.err) {
			t.Errorf("goulfm %s: code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", c.args, got.code, c.code, c.out, got.out, c.err, got.err)
		}
	}
}

func TestKillAtAMark(t *testing.T) {
	for _, detector := range []string{"exact", "ring --period 250ms --timeout-factor 4", "ring --period 250ms --timeout-factor 4 --fence"} {
		t.Run(detector, func(t *testing.T) {
			t.Parallel() // they wait, most of the time
			args := slices.Concat([]string{"run", "-n", "6", "--detector"}, strings.Fields(detector), []string{"--kill", "2@step=1", "--kill", "5@step=1", prog, "recover"})
			got := goulfmCommand(t, "", args...)
			if got.code != 0 || !strings.Contains(got.out, "survivors [0 1 3 4]\n") || !strings.Contains(got.out, "sum 6\n") {
				t.Errorf("%s: code %d\n%s%s", detector, got.code, got.out, got.err)
			}
			for _, want := range []string{
				`rank 2 \(pid \d+\) died: killed \(SIGKILL\) at step=1; found \d+\.\d+ ms after by its (tombstone in shared memory|exit status)`,
				`rank 5: all 4 survivors know it`,
				`revoke of world at \d ranks?`,
				`shrink of world to 4 ranks, dead \[2 5\], at all 4 survivors`,
				`4 of 6 ranks finished, 2 ranks lost; exit code 0`,
			} {
				if !regexp.MustCompile(want).MatchString(got.err) {
					t.Errorf("%s: the event log lacks %q:\n%s", detector, want, got.err)
				}
			}
		})
	}
}

// TestTheRingFindsAStoppedRank: with --detector ring a silent rank is killed. With --fence the rank
// is declared dead. When the rank continues, it learns this and stops itself with code 5.
func TestTheRingFindsAStoppedRank(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		t.Parallel() // the test waits, most of the time
		got := goulfmCommand(t, "", "run", "-n", "4", "--detector", "ring", "--period", "250ms", "--timeout-factor", "4", prog, "stopped")
		if got.code != 0 || !regexp.MustCompile(`rank 1 shows no life to rank \d: killed \(--detector ring\); if it was only slow, increase --timeout-factor`).MatchString(got.err) ||
			!strings.Contains(got.err, "rank 1: all 3 survivors know it") || strings.Contains(got.err, "stops itself") {
			t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
		}
	})
	t.Run("fenced", func(t *testing.T) {
		t.Parallel()
		got := goulfmCommand(t, "", "run", "-n", "4", "--detector", "ring", "--fence", "--period", "250ms", "--timeout-factor", "4", prog, "stopped")
		if got.code != 0 || !strings.Contains(got.err, "goulfm: rank 1: stops itself") || !strings.Contains(got.err, "died: fenced") {
			t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
		}
	})
	t.Run("fenced for ever", func(t *testing.T) {
		t.Parallel()
		got := goulfmCommand(t, "", "run", "-n", "4", "--detector", "ring", "--fence", "--period", "250ms", "--timeout-factor", "4", "--timeout", "60s", prog, "stopped-for-ever")
		if got.code != 0 || !regexp.MustCompile(`rank 1 shows no life to rank \d: declared dead \(--detector ring, --fence\)`).MatchString(got.err) ||
			!strings.Contains(got.err, "3 of 4 ranks finished, 1 rank lost; exit code 0") {
			t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
		}
	})
}

// TestASilentRankIsKilled: with --suspect-after the launcher kills a rank that is stopped, and the
// others get the error (F3). No rank that computes is killed.
func TestASilentRankIsKilled(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "4", "--suspect-after", "1s", prog, "stopped")
	if got.code != 0 || !strings.Contains(got.err, "rank 1 shows no life for 1s: killed (--suspect-after)") ||
		!strings.Contains(got.err, "rank 1: all 3 survivors know it") || strings.Contains(got.err, "rank 0 shows") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	got = goulfmCommand(t, "", "run", "-n", "2", "--suspect-after", "50ms", prog, "ring")
	if got.code != 2 || !strings.Contains(got.err, "want at least 200ms") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
}

// TestSpecC7ASilentRankIsFenced: with --fence a stopped rank is declared dead and not killed. When
// the rank continues, it prints a line and ends with code 5, and no other rank receives a message
// from it. A rank that never continues does not keep the job from its end.
func TestSpecC7ASilentRankIsFenced(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "4", "--suspect-after", "1s", "--fence", "--timeout", "60s", prog, "stopped")
	if got.code != 0 || !strings.Contains(got.err, "rank 1 shows no life for 1s: declared dead") || !strings.Contains(got.err, "goulfm: rank 1: stops itself") ||
		!strings.Contains(got.err, "died: fenced") || strings.Contains(got.err, "rank 0 shows") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	got = goulfmCommand(t, "", "run", "-n", "4", "--suspect-after", "1s", "--fence", "--timeout", "60s", prog, "stopped-for-ever")
	if got.code != 0 || !strings.Contains(got.err, "rank 1 shows no life for 1s: declared dead") || !strings.Contains(got.err, "rank 1 (pid") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
	got = goulfmCommand(t, "", "run", "-n", "2", "--fence", prog, "ring")
	if got.code != 2 || !strings.Contains(got.err, "say with --suspect-after") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
}

func TestKillAtATime(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "4", "--kill", "0@20ms", prog, "recover")
	if got.code != 0 || !strings.Contains(got.out, "survivors [1 2 3]") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestEverybodyKilled(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "2", "--kill", "0@1ms", "--kill", "1@1ms", prog, "cancel")
	if got.code != 4 || !strings.Contains(got.err, "too many lost") {
		t.Errorf("code %d\n%s", got.code, got.err)
	}
}

func TestReportJSON(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "4", "--report", "json", "--kill", "1@step=1", prog, "recover")
	seen := map[string]int{}
	for line := range strings.Lines(got.err) {
		var rec struct {
			Event string
			At    float64
			Rank  *int
			Code  *int
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if rec.At < 0 || rec.At > 60 {
			t.Errorf("time %v in %s", rec.At, line)
		}
		seen[rec.Event]++
		if rec.Event == "death" && *rec.Rank != 1 || rec.Event == "end" && *rec.Code != 0 {
			t.Errorf("%s", line)
		}
	}
	for _, want := range []string{"start", "death", "detection", "revoke", "agree", "shrink", "end"} {
		if seen[want] == 0 {
			t.Errorf("no %s event: %v", want, seen)
		}
	}
}

// outOfTime runs a job until its --timeout ends the job. The timeout begins with the job, and on a
// busy machine ranks may not have come far by then. So the limit is doubled, from 0.3 s up to 38.4
// s, until enough accepts the result.
func outOfTime(t *testing.T, enough func(result) bool, args ...string) (got result) {
	t.Helper()
	for limit := 300 * time.Millisecond; limit < time.Minute; limit *= 2 {
		got = goulfmCommand(t, "", append([]string{"run", "--timeout", limit.String()}, args...)...)
		if enough(got) {
			break
		}
	}
	return got
}

func TestTimeoutSaysWhoWaits(t *testing.T) {
	want := []string{"ranks 0-2: 3 goroutines, main [", "\n    main.awaitNext  /"} // one stack of the program
	for r := range 3 {
		want = append(want, fmt.Sprintf("rank %d: recv on world waits for rank %d, tag 7, at main.go:", r, (r+1)%3))
	}
	lacks := func(got result) []string {
		return slices.DeleteFunc(slices.Clone(want), func(text string) bool { return strings.Contains(got.err, text) })
	}
	got := outOfTime(t, func(got result) bool { return len(lacks(got)) == 0 }, "-n", "3", prog, "hang")
	if got.code != 124 || len(lacks(got)) > 0 {
		t.Errorf("code %d, no %q in\n%s", got.code, lacks(got), got.err)
	}
	assert.NotContains(t, got.err, "os/signal.", "goroutines of the library")
	assert.LessOrEqual(t, strings.Count(got.err, "\n"), 25, got.err)

	want = []string{"ranks 0-2: 3 goroutines [syscall]:\n    os/signal.signal_recv  /", "rank 2 (pid ", "unexpected: 0 messages"}
	got = outOfTime(t, func(got result) bool { return len(lacks(got)) == 0 }, "-v", "-n", "3", prog, "hang")
	assert.Empty(t, lacks(got), got.err)
}

// TestTimeoutNamesTheLate: the report of a collective names the ranks that have not entered the
// call.
func TestTimeoutNamesTheLate(t *testing.T) {
	says := func(got result) bool {
		return strings.Contains(got.err, "goulfm: barrier on world: 2 ranks waiting, not in this call: ranks 1,3\n")
	}
	got := outOfTime(t, says, "-n", "4", prog, "late")
	assert.Equal(t, 124, got.code)
	assert.True(t, says(got), got.err)
}

func TestOutputStaysInLines(t *testing.T) {
	got := goulfmCommand(t, "", "run", "-n", "4", "--tag", prog, "output")
	lines := 0
	for line := range strings.Lines(got.out) {
		lines++
		if !regexp.MustCompile(`^\[([0-3])\] (rank [0-3] line \d+\n|no newline at the end\n?)$`).MatchString(line) {
			t.Errorf("%q", line)
		}
	}
	if lines != 4*201 || strings.Count(got.err, "to stderr\n") != 4 || !strings.Contains(got.err, "[3] to stderr\n") {
		t.Errorf("%d lines, stderr %q", lines, got.err)
	}
}

func TestOutputDir(t *testing.T) {
	dir := t.TempDir()
	if got := goulfmCommand(t, "", "run", "-n", "2", "--output-dir", dir, prog, "output"); got.code != 0 || got.out != "" {
		t.Fatalf("%+v", got)
	}
	for r := range 2 {
		out, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank.%d.out", r)))
		errs, err2 := os.ReadFile(filepath.Join(dir, fmt.Sprintf("rank.%d.err", r)))
		if err != nil || err2 != nil || bytes.Count(out, []byte("\n")) != 200 || !bytes.HasSuffix(out, []byte("no newline at the end")) || string(errs) != "to stderr\n" {
			t.Errorf("rank %d: %v %v %d lines, %q", r, err, err2, bytes.Count(out, []byte("\n")), errs)
		}
	}
}

func TestStdin(t *testing.T) {
	for who, want := range map[string][3]int{"0": {5, 0, 0}, "2": {0, 0, 5}, "all": {5, 5, 5}, "none": {0, 0, 0}} {
		got := goulfmCommand(t, "a\nb\nc\nd\ne\n", "run", "-n", "3", "--stdin", who, prog, "stdin")
		for r, n := range want {
			if !strings.Contains(got.out, fmt.Sprintf("rank %d read %d lines\n", r, n)) {
				t.Errorf("--stdin %s: rank %d, want %d lines:\n%s", who, r, n, got.out)
			}
		}
	}
}

// TestAProgramThatNothingLaunched: a program that is started without a launcher runs as a single
// rank.
func TestAProgramThatNothingLaunched(t *testing.T) {
	out, err := limited(t, prog, "size").Output()
	if err != nil || string(out) != "size 1\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestAGoPackageAsProgram: goulfm run builds a Go package, and leaves no file in the temporary
// folder.
func TestAGoPackageAsProgram(t *testing.T) {
	tmp := t.TempDir()
	cmd := limited(t, goulfm, "run", "-n", "2", "./testdata/prog", "ring")
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil || string(out) != "sum 1\n" {
		t.Errorf("%q, %v", out, err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temp folder: %v, %v", left, err)
	}
}

// start starts goulfm. It returns the command, the lines of its standard output, and its standard
// error.
func start(t *testing.T, args ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	t.Helper()
	cmd := limited(t, goulfm, patient(args)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), &errs
}

func TestInterruptIsPassedOn(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, lines, errs := start(t, "run", "-n", "3", prog, "cancel")
		counts := map[string]int{}
		for lines.Scan() {
			counts[lines.Text()]++
			if counts["ready"] == 3 && counts["cancelled"] == 0 {
				if err := cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				counts["ready"]++ // once
			}
		}
		_ = cmd.Wait()
		if counts["cancelled"] != 3 || cmd.ProcessState.ExitCode() != 128+int(sig) {
			t.Errorf("%v: %v, code %d\n%s", sig, counts, cmd.ProcessState.ExitCode(), errs)
		}
	}
}

// TestNothingSurvivesTheLauncher kills the launcher with SIGKILL: every rank
// must end by itself.
func TestNothingSurvivesTheLauncher(t *testing.T) {
	cmd, lines, _ := start(t, "run", "-n", "5", prog, "pid")
	var fds []unix.PollFd
	for len(fds) < 5 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	awaitEnds(t, fds)
}

// awaitEnds waits until processes have ended: then their pidfds are readable.
func awaitEnds(t *testing.T, fds []unix.PollFd) {
	t.Helper()
	for i := range fds {
		n, err := 0, error(unix.EINTR)
		for err == unix.EINTR {
			n, err = unix.Poll(fds[i:i+1], int(hangs.Milliseconds()))
		}
		if err != nil || n != 1 {
			t.Errorf("a rank still runs long after its launcher was killed (%v)", err)
		}
	}
}
