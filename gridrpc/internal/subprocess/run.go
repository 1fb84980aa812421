package subprocess

import (
	"context"
	"os/exec"
)

// RunBeside starts a process, calls beside, and returns when both have ended. notStarted is the
// error of the start, and ended that of the process. The context of beside ends with ctx and with
// the process.
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
