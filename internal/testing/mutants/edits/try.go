package edits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Test names tests that fail when a bug is planted, and pass without it.
type Test struct {
	Package string   // in the module; "": the folder of the first file that is changed
	Run     string   // a regular expression, as for go test -run
	Args    []string // of the test program
	Tags    string   // that the tests are built with
	Says    string   // part of their output: the fault that the rule prevents

	Passes bool   // the reverse: the tests need the bug to show a fault, and pass with the bug
	Script string // the same, for tests that play scripts: a file in this package's testdata, which shows the fault
}

// shows reports whether the tests pass with the bug.
func (t Test) shows() bool { return t.Passes || t.Script != "" }

// Finding is the result of a test.
type Finding struct {
	By     string // the first test that failed, or the tests that showed the fault; "": the bug was not found
	Took   time.Duration
	Output string
}

// timeout is the time after which a test counts as hanging: without a bug each test takes less.
const timeout = 4 * time.Minute

// Try runs tests with the bug planted. The error is the reason why that was not possible.
func (e Edit) Try(root string, t Test) (Finding, error) { return e.try(root, t, "GOULFM_LONG=1") }

// TryQuick runs tests with the bug planted as make test does: without the long tests.
func (e Edit) TryQuick(root string, t Test) (Finding, error) { return e.try(root, t, "GOULFM_LONG=") }

// QuickTests returns the tests of make test that must find the bug. For a bug that the simulator
// hunts these are all tests of the simulated cluster, and of the package with the bug.
func (e Edit) QuickTests() (tests []Test) {
	if e.Hunt.Arena != "" {
		return []Test{{Run: "."}, {Package: "internal/testing/sim/cluster", Run: "."}}
	}
	for _, t := range e.Tests {
		if t.Tags == "" && len(t.Args) == 0 && !t.shows() {
			tests = append(tests, t)
		}
	}
	return tests
}

// try runs tests in an environment with one more variable.
func (e Edit) try(root string, t Test, env string) (Finding, error) {
	dir, err := os.MkdirTemp("", "edit")
	if err != nil {
		return Finding{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := e.Write(root, dir)
	if err != nil {
		return Finding{}, err
	}
	start := time.Now()
	out, err := e.goTest(root, overlay, t, env)
	f := Finding{Took: time.Since(start), Output: out}
	exit := (*exec.ExitError)(nil)
	switch {
	case err != nil && !errors.As(err, &exit):
		return f, err
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		return f, fmt.Errorf("edit %s does not compile:\n%s", e.Name, out)
	case strings.Contains(out, "no tests to run"), t.shows() && strings.Contains(out, "--- SKIP"):
		return f, fmt.Errorf("edit %s: there is no test %s", e.Name, t.Run)
	case t.shows() && err == nil:
		f.By = t.Run
	case !t.shows() && err != nil && strings.Contains(out, t.Says):
		f.By = failed(out)
		if f.By == "" { // the process ended in the middle of a test
			f.By = t.Run
		}
	}
	return f, nil
}

// folder returns the folder of the tests.
func (e Edit) folder(t Test) string {
	if t.Package != "" {
		return t.Package
	}
	return path.Dir(e.Changes[0].File)
}

// moduleOf returns the folder of the module that contains a folder below root, and the relative
// path of that folder.
func moduleOf(root, folder string) (dir, rest string) {
	for at := folder; at != "."; at = path.Dir(at) {
		if _, err := os.Stat(filepath.Join(root, at, "go.mod")); err == nil {
			return filepath.Join(root, at), "./" + strings.TrimPrefix(folder[len(at):], "/")
		}
	}
	return root, "./" + folder
}

func (e Edit) goTest(root, overlay string, t Test, env string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	dir, folder := moduleOf(root, e.folder(t))
	args := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout", timeout.String(), "-tags", t.Tags, "-run", t.Run, folder}
	if t.shows() {
		args = append(args, "-v") // which reports skipped tests
	}
	args = append(args, t.Args...)
	if t.Script != "" {
		args = append(args, "-script", filepath.Join(root, "internal/testing/mutants/edits/testdata", t.Script))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// GOFLAGS, not an argument: a test may build programs, which must have the bug, too.
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + overlay)
	cmd.Env = append(os.Environ(), env, "GOFLAGS="+flags) // a long test may find the bug
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var failLine = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^panic: test timed out|^\s+(Test\S+) \(`)

// failed returns the first test that failed.
func failed(out string) string {
	for _, m := range failLine.FindAllStringSubmatch(out, -1) {
		for _, name := range m[1:] {
			if name != "" {
				return name
			}
		}
	}
	return ""
}
