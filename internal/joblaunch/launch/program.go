package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
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

// program is the executable of the ranks. A Go package is built once into a file that loses its
// name at once: nothing stays behind even if the launcher is killed.
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

// A runner runs a command in a directory to its end and returns the command's output.
type runner func(dir string, args []string) ([]byte, error)

// findProgram finds a program like a shell, and builds a Go file, or a directory with Go files. A
// program in PATH precedes a directory of the same name; ./ selects the directory. A build that
// takes longer than buildSilent is reported.
func findProgram(name string, run runner, tell func(said string)) (*program, error) {
	st, err := os.Stat(name)
	if err == nil && !st.IsDir() && strings.HasSuffix(name, ".go") {
		return build(name, filepath.Dir(name), filepath.Base(name), run, tell)
	}
	path, lookErr := exec.LookPath(name)
	if err == nil && st.IsDir() && lookErr != nil {
		if m, _ := filepath.Glob(filepath.Join(name, "*.go")); len(m) == 0 {
			return nil, fail(ExitCannotRun, "%s: a directory without Go files: name a Go package or a program", name)
		}
		return build(name, name, ".", run, tell)
	}
	switch err := lookErr; {
	case err == nil || errors.Is(err, exec.ErrDot):
		path, err = filepath.Abs(path)
		if err != nil {
			return nil, fail(ExitCannotRun, "%s: %w", name, err)
		}
		if interpreter := interpreterOf(path); interpreter != "" {
			if _, err := os.Stat(interpreter); errors.Is(err, fs.ErrNotExist) {
				return nil, fail(ExitNotFound, "%s: its interpreter %s does not exist: correct the first line of the script", name, interpreter)
			}
		}
		return &program{path: path, name: name}, nil
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(ExitCannotRun, "%s: not executable: chmod +x it, or name a Go package like ./examples/ring", name)
	}
	hint := "give a file, a name in PATH, or a Go package like ./examples/ring"
	if _, err := os.Stat(name); err == nil && !strings.Contains(name, "/") {
		hint = "did you mean ./" + name + "?"
	}
	if strings.HasPrefix(name, "-") {
		hint = "options stand before the program: goulfm run -n 4 PROGRAM"
	}
	return nil, fail(ExitNotFound, "%s: no such program: %s", name, hint)
}

// interpreterOf returns the interpreter that the first line of a script names, or "".
func interpreterOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, 256)
	n, _ := f.Read(line)
	first, isScript := strings.CutPrefix(string(line[:n]), "#!")
	if !isScript {
		return ""
	}
	first, _, _ = strings.Cut(first, "\n")
	interpreter, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	return interpreter
}

// buildSilent is how long a build may take without a line in the log: a first build compiles the
// library and lasts a minute or two.
const buildSilent = time.Second

// build builds the Go package or file in a directory. The program is named after its source.
func build(said, in, what string, run runner, tell func(said string)) (*program, error) {
	late := time.AfterFunc(buildSilent, func() { tell(said) })
	defer late.Stop()
	dir, err := os.MkdirTemp("", "goulfm-build-")
	if err != nil {
		return nil, fail(ExitFailed, "build %s: %w", said, err)
	}
	defer os.RemoveAll(dir)
	name := strings.TrimSuffix(filepath.Base(said), ".go")
	if name == "." || name == "/" || name == ".." {
		name = "program"
	}
	out := filepath.Join(dir, name)
	if text, err := run(in, []string{"go", "build", "-o", out, what}); err != nil {
		return nil, fail(ExitFailed, "build %s: %w\n%s", said, err, strings.TrimRight(string(text), "\n"))
	}
	f, err := os.Open(out)
	if err != nil {
		return nil, fail(ExitFailed, "build %s: no program came out: is it package main? (%w)", said, err)
	}
	defer f.Close()
	return executeFile(name, f)
}

// buildFirst is the runner while there are no ranks.
func buildFirst(ctx context.Context, dir string, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.CombinedOutput()
}
