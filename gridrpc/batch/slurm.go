package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// slurm asks Slurm by its commands.
type slurm struct{ options []string }

// errAway is the error of a batch system that does not answer. It may answer later.
var errAway = errors.New("the batch system does not answer")

// submit submits a script as a job of this name.
func (s slurm) submit(ctx context.Context, name, dir string) error {
	args := []string{"--parsable", "--job-name=" + name, "--chdir=" + dir, "--output=" + logFile, "--open-mode=append"}
	_, err := run(ctx, "sbatch", slices.Concat(args, s.options, []string{scriptFile}), dir)
	return err
}

// state returns the state of the latest job of this name that has not ended, in the words of
// Slurm; "" if there is none.
func (s slurm) state(ctx context.Context, name string) (string, error) {
	out, err := run(ctx, "squeue", []string{"--noheader", "--name=" + name, "--format=%T"}, "")
	if err != nil {
		return "", err
	}
	words := strings.Fields(out)
	if len(words) == 0 {
		return "", nil
	}
	return strings.ToLower(words[len(words)-1]), nil
}

// cancel ends all jobs of this name.
func (s slurm) cancel(ctx context.Context, name string) error {
	_, err := run(ctx, "scancel", []string{"--name=" + name}, "")
	return err
}

// away are words of Slurm's errors that pass: its controller is down, or busy.
var away = []string{"Unable to contact slurm controller", "Socket timed out", "temporarily"}

// run runs a command of the batch system. The variables of the platform are not for jobs.
func run(ctx context.Context, name string, args []string, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GRIDRPC_") })
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	text := strings.TrimSpace(said.String())
	for _, word := range away {
		if strings.Contains(text, word) {
			return "", fmt.Errorf("%w: %s: %s", errAway, name, text)
		}
	}
	return "", fmt.Errorf("%s: %w: %s", name, err, text)
}
