// Package job builds the launcher and the measuring programs, and runs jobs under a launcher, ours
// or another library's, for drivers that compare libraries.
package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/testing/harness/record"
)

const module = "github.com/goulfm/goulfm"

// ErrLimit is the error of a job that did not end in time.
var ErrLimit = errors.New("did not end in time")

// A Result is the output of a job, and the time from its start to its end.
type Result struct {
	Records []record.Record
	Took    time.Duration
}

// Run runs a command, at most for limit, and reads the records that the command prints. After a
// failure Run returns the records together with the error. Processes in the process group of the
// command do not outlive the call.
func Run(ctx context.Context, limit time.Duration, argv []string) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrLimit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// After a SIGTERM a launcher ends its ranks, wherever they are.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 3 * time.Second
	start := time.Now()
	err := cmd.Run()
	res := Result{Took: time.Since(start)}
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // any remaining process
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %v", context.Cause(ctx), limit)
	}
	records, parseErr := record.Parse(&out)
	res.Records = records
	if err = errors.Join(err, parseErr); err != nil {
		err = fmt.Errorf("%s: %w%s", strings.Join(argv, " "), err, tail(errs.String()))
	}
	return res, err
}

// tailMax bounds the part of a job's standard error in an error, in bytes.
const tailMax = 1000

func tail(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	if len(s) > tailMax {
		s = "..." + s[len(s)-tailMax:]
	}
	return "\n\t" + strings.ReplaceAll(s, "\n", "\n\t")
}

// A Bin is a folder with the launcher, bench/measure, and other programs.
type Bin struct{ dir string }

// Build compiles the launcher and bench/measure into dir. More names the folders of further
// programs, relative to the module, such as "bench/recovery".
func Build(ctx context.Context, dir string, more ...string) (Bin, error) {
	args := []string{"build", "-o", dir + string(filepath.Separator), module + "/cmd/goulfm", module + "/bench/measure"}
	for _, folder := range more {
		args = append(args, module+"/"+folder)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return Bin{}, fmt.Errorf("go %s: %w%s", strings.Join(args, " "), err, tail(string(out)))
	}
	return Bin{dir}, nil
}

// BuildTemp is Build into a new temporary folder, which remove deletes. The name of the folder
// contains the name of the calling program. After an error there is nothing to remove.
func BuildTemp(ctx context.Context, program string, more ...string) (bin Bin, remove func(), err error) {
	dir, err := os.MkdirTemp("", "goulfm-"+program+"-")
	if err != nil {
		return Bin{}, nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	if bin, err = Build(ctx, dir, more...); err != nil {
		remove()
		return Bin{}, nil, err
	}
	return bin, remove, nil
}

// Command returns the command line of n ranks of a command of bench/measure. The flags are for the
// launcher, the args for the command.
func (b Bin) Command(command string, n int, flags, args []string) []string {
	return b.Program("measure", n, flags, append([]string{command}, args...))
}

// Program returns the command line of n ranks of a program that was built. The flags are for the
// launcher, the args for the program.
func (b Bin) Program(name string, n int, flags, args []string) []string {
	argv := append([]string{filepath.Join(b.dir, "goulfm"), "run", "-q", "-n", strconv.Itoa(n)}, flags...)
	return append(append(argv, filepath.Join(b.dir, name)), args...)
}

// Root returns the folder of the module, in which the programs' sources are.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("no folder of module %s: run this inside of it: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Counts reads a list such as "2,8,16": numbers of ranks, each at least low.
func Counts(list string, low int) ([]int, error) {
	var ns []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < low {
			return nil, fmt.Errorf("%q is not a number of ranks of at least %d", s, low)
		}
		ns = append(ns, n)
	}
	return ns, nil
}
