package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// An Error is why a job could not start, with its exit code.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// program is what the ranks execute. A Go package is built once into a file that
// loses its name at once: nothing stays behind even if the launcher is killed.
type program struct {
	path string   // to execute
	name string   // argument 0
	file *os.File // of a package that was built; else nil
}

func (p *program) close() {
	if p.file != nil {
		p.file.Close()
	}
}

// findProgram looks where a shell would, and builds a directory with Go files.
func findProgram(ctx context.Context, spec *Spec) (*program, error) {
	name := spec.Program
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		return build(ctx, spec)
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		path, err = filepath.Abs(path)
		if err != nil {
			return nil, fail(ExitCannotRun, "%s: %w", name, err)
		}
		return &program{path: path, name: name}, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(ExitCannotRun, "%s: not executable: chmod +x it, or name a Go package like ./examples/ring", name)
	}
	hint := "give a file, a name in PATH, or a Go package like ./examples/ring"
	if strings.HasPrefix(name, "-") {
		hint = "options stand before the program: goulfm run -n 4 PROGRAM"
	}
	return nil, fail(ExitNotFound, "%s: no such program: %s", name, hint)
}

func build(ctx context.Context, spec *Spec) (*program, error) {
	if m, _ := filepath.Glob(filepath.Join(spec.Program, "*.go")); len(m) == 0 {
		return nil, fail(ExitCannotRun, "%s: a directory without Go files: name a Go package or a program", spec.Program)
	}
	dir, err := os.MkdirTemp("", "goulfm-build-")
	if err != nil {
		return nil, fail(ExitFailed, "build %s: %w", spec.Program, err)
	}
	defer os.RemoveAll(dir)
	name := strings.TrimSuffix(filepath.Base(spec.Program), string(filepath.Separator))
	if name == "." || name == "/" {
		name = "program"
	}
	out := filepath.Join(dir, name)
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "build", "-o", out, ".")
	cmd.Dir = spec.Program
	cmd.Stdout, cmd.Stderr = &text, &text
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Run(); err != nil {
		return nil, fail(ExitFailed, "build %s: %w\n%s", spec.Program, err, strings.TrimRight(text.String(), "\n"))
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fail(ExitFailed, "build %s: no program came out: is it package main? (%w)", spec.Program, err)
	}
	return &program{path: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()), name: name, file: f}, nil
}
