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
	Run     string   // a regular expression as of go test -run
	Args    []string // of the test program
	Tags    string   // that the tests are built with
	Says    string   // stands in what they print: what the rule is there for

	Passes bool   // the other way round: the tests need the bug to show something, and pass with it
	Script string // the same, of tests that play scripts: a file of this package's testdata that tells what goes wrong
}

// shows says whether the tests pass with the bug.
func (t Test) shows() bool { return t.Passes || t.Script != "" }

// Finding is what came of a test.
type Finding struct {
	By     string // the first test that failed, or the tests that showed what goes wrong; "": the bug was not found
	Took   time.Duration
	Output string
}

// timeout is when a test hangs: without a bug none of them takes so long.
const timeout = 4 * time.Minute

// Try runs tests with the bug planted. The error is why that could not be done.
func (e Edit) Try(root string, t Test) (Finding, error) { return e.try(root, t, "GOULFM_LONG=1") }

// TryQuick runs tests with the bug planted as make test does: without the long ones.
func (e Edit) TryQuick(root string, t Test) (Finding, error) { return e.try(root, t, "GOULFM_LONG=") }

// QuickTests returns the tests that make test has of those that must find a bug. For a bug that the
// simulator hunts they are all tests of the simulated cluster, and of the package with the bug.
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
		if f.By == "" { // the process ended in the middle of one
			f.By = t.Run
		}
	}
	return f, nil
}

// folder returns where the tests are.
func (e Edit) folder(t Test) string {
	if t.Package != "" {
		return t.Package
	}
	return path.Dir(e.Changes[0].File)
}

// moduleOf returns the folder of the module that a folder below root belongs to, and the folder's
// path there.
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
		args = append(args, "-v") // so that skips are told
	}
	args = append(args, t.Args...)
	if t.Script != "" {
		args = append(args, "-script", filepath.Join(root, "internal/testing/mutants/edits/testdata", t.Script))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	// GOFLAGS, and not an argument: a test may build programs, which are to have the bug too.
	flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + overlay)
	cmd.Env = append(os.Environ(), env, "GOFLAGS="+flags) // what finds a bug may be a long test
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
