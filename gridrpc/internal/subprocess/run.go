package subprocess

import (
	"context"
	"os/exec"
)

// RunBeside starts a process, runs something beside it until it has ended, and returns when both
// are over: with why the process could not be started, or how it has ended. What runs beside gets a
// context that ends with ctx, and with the process.
func RunBeside(ctx context.Context, cmd *exec.Cmd, beside func(ctx context.Context)) (notStarted, ended error) {
	if err := cmd.Start(); err != nil {
		return err, nil
	}
	lives, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { defer close(over); beside(lives) }()
	ended = cmd.Wait()
	stop()
	<-over
	return nil, ended
}
