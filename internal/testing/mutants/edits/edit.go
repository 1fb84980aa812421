package edits

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Edit is one bug: a change of the source, and the worlds and tests that must find it.
type Edit struct {
	Name    string // short and unique
	Rule    string // the rule that is left out, in words
	Changes []Change
	Hunt    Hunt   // the simulated worlds that must find it
	Tests   []Test // each must find the bug, or show its fault (Test.Passes, Test.Script)
}

// Change is a piece of one file.
type Change struct {
	File string // in the module
	Old  string // occurs once in the file; "": there is no such file, and New is its content
	New  string
}

// Hunt names the simulated worlds in which a bug is hunted: see package mutants. The zero Hunt
// stands for no hunt.
type Hunt struct {
	Arena  string
	Breaks []string // the invariants that the bug may break
	NMax   int      // most processes of a world; 0: the default of the arena
}

// Expects reports whether a broken invariant counts as finding the bug.
func (h Hunt) Expects(invariant string) bool { return slices.Contains(h.Breaks, invariant) }

// Root returns the directory of the module that holds the current one.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Apply returns the changed files, by their names in the module.
func (e Edit) Apply(root string) (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, c := range e.Changes {
		text, known := changed[c.File]
		if !known {
			var err error
			text, err = os.ReadFile(filepath.Join(root, c.File))
			if err != nil && (c.Old != "" || !errors.Is(err, fs.ErrNotExist)) {
				return nil, err
			}
		}
		next, err := c.apply(text)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", e.Name, err)
		}
		changed[c.File] = next
	}
	return changed, nil
}

func (c Change) apply(text []byte) ([]byte, error) {
	switch n := bytes.Count(text, []byte(c.Old)); {
	case c.Old == "" && text != nil:
		return nil, fmt.Errorf("%s is there already", c.File)
	case c.Old != "" && n != 1:
		return nil, fmt.Errorf("the old text is %d times in %s:\n%s", n, c.File, c.Old)
	}
	return bytes.Replace(text, []byte(c.Old), []byte(c.New), 1), nil
}

// Write writes the changed files to dir, and the overlay file that makes the go command compile
// them in place of the originals (go build -overlay). It returns the name of the overlay file.
func (e Edit) Write(root, dir string) (overlay string, err error) {
	changed, err := e.Apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		at := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = at
	}
	list, _ := json.Marshal(map[string]any{"Replace": replace}) // of strings
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// Build compiles a command of the module with the bug planted.
func (e Edit) Build(root, command, binary string) error {
	dir, err := os.MkdirTemp("", "edit")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := e.Write(root, dir)
	if err != nil {
		return err
	}
	build := exec.Command("go", "build", "-overlay", overlay, "-o", binary, "./"+command)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("edit %s does not compile: %w\n%s", e.Name, err, out)
	}
	return nil
}
