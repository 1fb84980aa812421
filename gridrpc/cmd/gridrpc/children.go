package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/folder"
)

// children are the processes of a platform. They end when this one does: each is tethered to
// it by its standard input.
type children struct {
	ctx      context.Context
	platform *platform
	all      sync.WaitGroup
}

func newChildren(ctx context.Context, p *platform) *children {
	return &children{ctx: ctx, platform: p}
}

// Pauses before a process is started anew.
const (
	restartAfter = time.Second
	endWithin    = 3 * time.Second
)

// start starts a process and keeps it running.
func (c *children) start(name string, env []string, program string, args ...string) error {
	cmd, err := c.launch(name, env, program, args)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.all.Go(func() {
		for {
			err := cmd.Wait()
			if c.ctx.Err() != nil {
				return
			}
			c.platform.say("%s died (%v)", name, err)
			if !c.platform.restarts {
				return
			}
			select {
			case <-c.ctx.Done():
				return
			case <-time.After(restartAfter):
			}
			if cmd, err = c.launch(name, env, program, args); err != nil {
				c.platform.say("%s cannot be started anew: %v", name, err)
				return
			}
		}
	})
	return nil
}

// launch starts a process once.
func (c *children) launch(name string, env []string, program string, args []string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(c.ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endWithin
	cmd.Env = append(os.Environ(), folder.EnvDir+"="+c.platform.dir, folder.EnvName+"="+name, folder.EnvTether+"=1")
	if c.platform.noRecovery {
		cmd.Env = append(cmd.Env, folder.EnvStay+"=1")
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // held open as long as this process lives
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.platform.say("%s is process %d", name, cmd.Process.Pid)
	return cmd, nil
}

func (c *children) wait() { c.all.Wait() }

// build builds the program in a folder.
func build(ctx context.Context, dir, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", dir, err, out)
	}
	return nil
}
