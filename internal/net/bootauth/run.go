package bootauth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	outputMax = 32 << 10               // bytes of each of the two streams; the rest is dropped
	streamsIn = 200 * time.Millisecond // both streams end within this time after the program; a child of its own may hold them
)

// ran is the output of a program. The output shows whether the program succeeded: its exit code
// may be lost to a daemon that waits for all its children in one place.
type ran struct{ out, errors string }

// run runs a program of MUNGE, at most for the limit, with input on its standard input.
func (m munge) run(ctx context.Context, program, input string, args ...string) (ran, error) {
	path, err := m.find(program)
	if err != nil {
		return ran{}, err
	}
	late := fmt.Errorf("%s: no end within %v: is munged of this node alive?", program, m.limit)
	ctx, cancel := context.WithTimeoutCause(ctx, m.limit, late)
	defer cancel()
	var out, complaints bounded
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = streamsIn
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ran{}, context.Cause(ctx)
	case err == nil || errors.As(err, &exit) || errors.Is(err, syscall.ECHILD):
		return ran{out.text.String(), complaints.text.String()}, nil
	}
	return ran{}, fmt.Errorf("%s: %w", program, err)
}

// find returns the path of a program.
func (m munge) find(program string) (string, error) {
	where, name := m.dir, filepath.Join(m.dir, program)
	if m.dir == "" {
		where, name = "$PATH", program
	}
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s is not in %s: install MUNGE on this node, or use a secret file", program, where)
	case err != nil:
		return "", fmt.Errorf("%s: %w", program, err)
	}
	return path, nil
}

// bounded keeps the beginning of the written bytes.
type bounded struct{ text strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), outputMax-b.text.Len())])
	return len(p), nil
}
