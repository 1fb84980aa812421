package edits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Edit is one bug.
type Edit struct {
	Name    string // short and unique
	Rule    string // what is left out, in words
	File    string // in the module
	Old     string // stands once in the file
	New     string
	Test    string // a regular expression as of go test -run
	Package string // whose tests are run; "": the one of File
	Tags    string // that the tests are built with
}

// Finding is what came of a hunt.
type Finding struct {
	Test   string // the first one that failed; "" if none did
	Took   time.Duration
	Output string
}

// timeout is when a test hangs: without the edit none of them takes so long.
const timeout = 4 * time.Minute

// Root returns the directory of the module that holds the current one.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Apply returns the changed text of the edit's file.
func (e Edit) Apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, e.File))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(e.Old)); n != 1 {
		return nil, fmt.Errorf("edit %s: the old text is %d times in %s", e.Name, n, e.File)
	}
	return bytes.Replace(text, []byte(e.Old), []byte(e.New), 1), nil
}

// Hunt runs the tests of the edit with its bug planted. The error is why that could not
// be tried.
func (e Edit) Hunt(root string) (Finding, error) {
	dir, err := os.MkdirTemp("", "edit")
	if err != nil {
		return Finding{}, err
	}
	defer os.RemoveAll(dir)
	overlay, err := e.overlay(root, dir)
	if err != nil {
		return Finding{}, err
	}
	start := time.Now()
	out, err := e.goTest(root, overlay, e.Test)
	f := Finding{Test: failed(out), Took: time.Since(start), Output: out}
	exit := (*exec.ExitError)(nil)
	switch {
	case err != nil && !errors.As(err, &exit):
		return f, err
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		return f, fmt.Errorf("edit %s does not compile:\n%s", e.Name, out)
	case strings.Contains(out, "no tests to run"):
		return f, fmt.Errorf("edit %s: there is no test %s", e.Name, e.Test)
	case err != nil && f.Test == "": // the process ended in the middle of one
		f.Test = e.Test
	}
	return f, nil
}

// overlay writes the changed file, and what go test reads to take it for the right one.
func (e Edit) overlay(root, dir string) (string, error) {
	text, err := e.Apply(root)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(e.File))
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	replace := map[string]map[string]string{"Replace": {filepath.Join(root, e.File): changed}}
	list, _ := json.Marshal(replace) // of strings
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, list, 0o600)
}

func (e Edit) goTest(root, overlay, run string) (string, error) {
	pkg := e.Package
	if pkg == "" {
		pkg = filepath.Dir(e.File)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-failfast", "-timeout", timeout.String(), "-tags", e.Tags, "-run", run, "./"+pkg)
	cmd.Dir = root
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
