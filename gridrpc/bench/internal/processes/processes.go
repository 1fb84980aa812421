// Package processes has a platform of real processes for measurements.
package processes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/eventlog"
)

// Platform is "gridrpc up" and its processes.
type Platform struct {
	Dir string // of the platform

	cmd   *exec.Cmd
	ended chan struct{}
	up    chan struct{} // closed when all were started

	log *eventlog.Log
}

// Start builds the command and the program of a folder, in folder dir, and starts a platform with
// these flags of "gridrpc up". The environment names it from now on. The working folder is that of
// the module.
func Start(ctx context.Context, dir, program string, flags ...string) (*Platform, error) {
	binary, server := filepath.Join(dir, "gridrpc"), filepath.Join(dir, "server")
	for out, from := range map[string]string{binary: "./cmd/gridrpc", server: program} {
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", out, from).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s, in the folder of the module: %w\n%s", from, err, text)
		}
	}
	p := &Platform{Dir: filepath.Join(dir, "platform"), ended: make(chan struct{}), up: make(chan struct{}), log: eventlog.New()}
	if err := os.Setenv(gridrpc.EnvDir, p.Dir); err != nil {
		return nil, err
	}
	args := append([]string{"up", "--dir", p.Dir}, flags...)
	p.cmd = exec.CommandContext(ctx, binary, append(args, server)...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(os.Interrupt) }
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	serving := sync.OnceFunc(func() { close(p.up) })
	go func() {
		defer close(p.ended)
		p.log.Read(out, func(line string) {
			if strings.Contains(line, eventlog.Serving) {
				serving()
			}
		})
	}()
	select {
	case <-p.up:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("gridrpc up has ended: %w", p.cmd.Wait())
	}
}

// Signal sends a signal to processes by their names.
func (p *Platform) Signal(s syscall.Signal, names ...string) error {
	for _, name := range names {
		if err := syscall.Kill(p.log.PID(name), s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// End ends the platform.
func (p *Platform) End() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	<-p.ended
	_ = p.cmd.Wait()
}

// AwaitServers waits until the master knows so many servers of a service.
func AwaitServers(ctx context.Context, c *gridrpc.Client, service string, want int) error {
	for {
		offers, err := c.Offers(ctx)
		if err != nil {
			return err
		}
		n := 0
		for _, o := range offers {
			if o.Service == service {
				n++
			}
		}
		if n == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
