package platform

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
)

// children are the processes of a platform. Each ends with the process that has started the
// platform: its standard input ends then. A process on another machine also ends after a minute
// without a line on its standard input.
type children struct {
	ctx      context.Context
	platform *platform
	// beside runs beside each process until the process ends.
	beside func(ctx context.Context, name string, process *os.Process)
	all    sync.WaitGroup
}

func newChildren(ctx context.Context, p *platform) *children {
	return &children{ctx: ctx, platform: p, beside: func(ctx context.Context, name string, process *os.Process) {
		if name == onlyMaster {
			p.probeMaster(ctx, name, process)
		}
	}}
}

// Times of restarts and ends.
const (
	restartAfter = time.Second
	endWithin    = 3 * time.Second
)

// startAt starts a process on a machine and keeps it running.
func (c *children) startAt(at remote, name string, env []string, program string, args ...string) error {
	cmd, err := c.launch(at, name, env, program, args)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.all.Go(func() {
		for {
			err := c.await(name, cmd)
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
			if cmd, err = c.launch(at, name, env, program, args); err != nil {
				c.platform.say("%s cannot be started anew: %v", name, err)
				return
			}
		}
	})
	return nil
}

// await returns when a process has ended, and reports how.
func (c *children) await(name string, cmd *exec.Cmd) error {
	ctx, ended := context.WithCancel(c.ctx)
	defer ended()
	go c.beside(ctx, name, cmd.Process)
	return cmd.Wait()
}

// launch starts a process once.
func (c *children) launch(at remote, name string, env []string, program string, args []string) (*exec.Cmd, error) {
	env = append(slices.Clone(env), discovery.EnvDir+"="+c.platform.dir, discovery.EnvName+"="+name)
	if c.platform.noRecovery {
		env = append(env, discovery.EnvStay+"=1")
	}
	if c.platform.ancestors > 0 {
		env = append(env, fmt.Sprintf("%s=%d", discovery.EnvKnown, c.platform.ancestors))
	}
	if c.platform.observers > 0 {
		env = append(env, fmt.Sprintf("%s=%d", discovery.EnvObserve, c.platform.observers))
	}
	where, kind := "", discovery.TetherEnds
	if at.host != "" {
		env, where, kind = append(env, discovery.EnvListen+"="+at.host), " at "+at.host, discovery.TetherBeats
	}
	env = append(env, discovery.EnvTether+"="+kind)
	command, words := at.command(env, program, args)
	cmd := exec.CommandContext(c.ctx, command, words...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = endWithin
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	hold, err := cmd.StdinPipe() // held open as long as this process lives
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if at.host != "" {
		go discovery.Beat(hold)
	}
	c.platform.say("%s is process %d%s", name, cmd.Process.Pid, where)
	return cmd, nil
}

func (c *children) wait() { c.all.Wait() }

// buildNotice is the time after which a build is reported: a first build compiles all
// dependencies.
const buildNotice = time.Second

// build builds the program in a folder.
func (p *platform) build(ctx context.Context, dir, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, ".")
	cmd.Dir = dir
	defer time.AfterFunc(buildNotice, func() { p.say("builds %s: the first time this takes a minute or two", dir) }).Stop()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", dir, err, out)
	}
	return nil
}
