package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// platform is what "up" starts.
type platform struct {
	dir      string
	begun    time.Time
	restarts bool
	children *children
}

func up(ctx context.Context, args []string) error {
	f := flags("up")
	tree := f.String("tree", "2x2", "agents x servers of each")
	noRestart := f.Bool("no-restart", false, "leave the dead dead")
	if err := parse(f, args); err != nil || f.NArg() < 1 {
		return errUsage
	}
	var agents, servers int
	if _, err := fmt.Sscanf(*tree, "%dx%d", &agents, &servers); err != nil || agents < 0 || servers < 1 || agents > 1000 || servers > 1000 {
		return fmt.Errorf("--tree %s: want agents x servers of each, as 2x4", *tree)
	}
	p := &platform{dir: gridrpc.DefaultDir(), begun: time.Now(), restarts: !*noRestart}
	program, err := p.prepare(ctx, f.Arg(0))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.children = newChildren(ctx, p)
	if err := p.start(agents, servers, append([]string{program}, f.Args()[1:]...)); err != nil {
		cancel()
		p.children.wait()
		return err
	}
	p.say("serving in %s; \"gridrpc ls\" lists, \"gridrpc call\" calls, interrupt to end", p.dir)
	<-ctx.Done()
	p.children.wait()
	p.say("ended")
	return nil
}

func (p *platform) say(format string, args ...any) {
	fmt.Printf("+%.3fs %s\n", time.Since(p.begun).Seconds(), fmt.Sprintf(format, args...))
}

// prepare makes the folder and builds the program, if it is a folder.
func (p *platform) prepare(ctx context.Context, program string) (string, error) {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(p.dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: others than its owner may look into it", p.dir)
	}
	if err != nil {
		return "", err
	}
	os.Remove(gridrpc.MastersFile())
	if info, err := os.Stat(program); err != nil || !info.IsDir() {
		return program, err
	}
	binary := filepath.Join(p.dir, "program")
	return binary, build(ctx, program, binary)
}

// start starts all processes, the master first.
func (p *platform) start(agents, servers int, program []string) error {
	authority, err := link.NewAuthority("local")
	if err == nil {
		err = errors.Join(authority.Save(p.dir), authority.Issue(p.dir, link.Client, "client"))
	}
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := authority.Issue(p.dir, link.Master, "ma"); err != nil {
		return err
	}
	if err := p.children.start("ma", nil, self, "master", "--name", "ma"); err != nil {
		return err
	}
	if err := p.awaitMaster(); err != nil {
		return err
	}
	return p.startServers(authority, max(1, agents)*servers, program)
}

func (p *platform) startServers(authority *link.Authority, n int, program []string) error {
	for i := range n {
		name := fmt.Sprintf("s%d", i+1)
		if err := authority.Issue(p.dir, link.Worker, name); err != nil {
			return err
		}
		if err := p.children.start(name, nil, program[0], program[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// startWithin is how long the master may take to listen.
const startWithin = 20 * time.Second

// awaitMaster waits until the master's address is known.
func (p *platform) awaitMaster() error {
	for end := time.Now().Add(startWithin); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(gridrpc.MastersFile()); err == nil && strings.HasSuffix(string(text), "\n") {
			return nil
		}
	}
	return fmt.Errorf("the master did not listen within %v", startWithin)
}
