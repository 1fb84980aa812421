package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Times of runs with processes.
const (
	steadyAfter = 6 * time.Second // until heartbeats have their final period
	formWithin  = 60 * time.Second
	mendWithin  = 120 * time.Second
)

// binaries are the programs of a chain of processes.
type binaries struct{ shipped, published, server string }

// build builds the binaries in a folder. The working folder is that of the module.
func build(dir string) (binaries, error) {
	b := binaries{shipped: filepath.Join(dir, "gridrpc"), published: filepath.Join(dir, "gridrpc-published"), server: filepath.Join(dir, "server")}
	for _, args := range [][]string{{"-o", b.shipped, "./cmd/gridrpc"}, {"-tags", "published", "-o", b.published, "./cmd/gridrpc"}, {"-o", b.server, "./bench/farm/wait"}} {
		if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
			return b, fmt.Errorf("go build %v, in the folder of the module: %w\n%s", args, err, out)
		}
	}
	return b, nil
}

// member is the reported state of an agent of the chain.
type member struct {
	pid   int
	knows []string // ancestors, nearest first: the first is its parent
	dead  bool     // this program has killed or stopped it
}

// platform is "gridrpc up" with a chain of agents below the master, and a server below the last
// one.
type platform struct {
	cmd   *exec.Cmd
	known int

	mu     sync.Mutex
	more   *sync.Cond
	names  []string // the master, and the agents from there down
	all    map[string]*member
	over   bool
	first  time.Time // the first detection of a dead agent; zero: not yet
	latest time.Time // the latest report
	asked  int
}

// startChain starts a platform with the given number of agents, root included, and waits until each
// knows its ancestors.
func startChain(binary, server, dir string, agents, known int) (*platform, error) {
	tree := strings.Repeat("1x", agents-1) + "1"
	p := &platform{known: known, names: []string{"ma"}, all: map[string]*member{"ma": {}}}
	p.more = sync.NewCond(&p.mu)
	for i := range agents - 1 {
		p.names = append(p.names, fmt.Sprintf("a%d", i+1))
		p.all[p.names[i+1]] = &member{}
	}
	p.cmd = exec.Command(binary, "up", "--dir", dir, "--tree", tree, "--store", "", "--no-restart", "--detect", time.Duration(detect).String(), server)
	p.cmd.Env = append(os.Environ(), "GRIDRPC_TRACE=1")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	if !p.await(formWithin, p.isWhole) {
		p.end()
		return nil, fmt.Errorf("the chain was not whole after %v", formWithin)
	}
	return p, nil
}

// read handles the log of the platform line by line.
func (p *platform) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		p.hear(strings.Fields(lines.Text()))
		p.more.Broadcast()
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.more.Broadcast()
}

// hear handles one line: "+0.1s NAME is process PID", "NAME: asks who is the root", "NAME: trace NS
// lost NAME" or "NAME: trace NS knows NAME...". The caller holds mu.
func (p *platform) hear(words []string) {
	if len(words) >= 5 && words[2] == "is" && words[3] == "process" && p.all[words[1]] != nil {
		p.all[words[1]].pid, _ = strconv.Atoi(words[4])
	}
	if len(words) < 4 {
		return
	}
	m := p.all[strings.TrimSuffix(words[0], ":")]
	if m == nil || m.dead {
		return
	}
	if words[1] == "asks" {
		p.asked++
	}
	if ns, err := strconv.ParseInt(words[2], 10, 64); err == nil && words[1] == "trace" {
		p.trace(m, time.Unix(0, ns), words[3], words[4:])
	}
}

// trace handles a detection or a list of an agent. The caller holds mu.
func (p *platform) trace(m *member, at time.Time, what string, names []string) {
	switch {
	case what == "knows":
		m.knows, p.latest = names, at
	case what == "lost" && len(names) == 1:
		if lost := p.all[names[0]]; lost != nil && lost.dead && (p.first.IsZero() || at.Before(p.first)) {
			p.first = at
		}
	}
}

// isWhole reports whether each survivor has a live parent, and knows its ancestors. The caller
// holds mu.
func (p *platform) isWhole() bool {
	for _, name := range p.names[1:] {
		m := p.all[name]
		switch {
		case m.dead:
			continue
		case len(m.knows) == 0:
			return false
		}
		above := p.all[m.knows[0]]
		if above == nil || above.dead {
			return false
		}
		want := append([]string{m.knows[0]}, above.knows...)
		if !slices.Equal(m.knows, want[:min(len(want), p.known)]) {
			return false
		}
	}
	return true
}

// await waits until a line of the log makes holds true.
func (p *platform) await(within time.Duration, holds func() bool) bool {
	late := false
	timer := time.AfterFunc(within, func() { p.mu.Lock(); late = true; p.more.Broadcast(); p.mu.Unlock() })
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !holds() && !late && !p.over {
		p.more.Wait()
	}
	return holds()
}

// fail sends a signal to agents, all at once. It returns the milliseconds from the first detection
// until the chain is whole, and the number of requests for the root.
func (p *platform) fail(s syscall.Signal, victims []int) (ms float64, asked int, err error) {
	p.mu.Lock()
	p.asked = 0
	for _, v := range victims {
		m := p.all[p.names[v]]
		m.dead = true
		err = errors.Join(err, syscall.Kill(m.pid, s))
	}
	p.mu.Unlock()
	if err != nil {
		return 0, 0, err
	}
	if !p.await(mendWithin, p.isWhole) {
		return 0, 0, fmt.Errorf("not whole %v after %v", mendWithin, victims)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(p.latest.Sub(p.first)) / float64(time.Millisecond), p.asked, nil
}

// end ends the platform, stopped processes first.
func (p *platform) end() {
	p.mu.Lock()
	for _, m := range p.all {
		if m.dead {
			_ = syscall.Kill(m.pid, syscall.SIGKILL) // it may have ended
		}
	}
	p.mu.Unlock()
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
}

// curve is a measurement for several numbers of failures.
type curve struct {
	pattern, evidence string
	binary            string
	signal            syscall.Signal
}

func (b binaries) curves() (all []curve) {
	for _, pattern := range patterns {
		all = append(all, curve{pattern, "refusal", b.shipped, syscall.SIGKILL}, curve{pattern, "silence", b.shipped, syscall.SIGSTOP},
			curve{pattern, "published", b.published, syscall.SIGSTOP})
	}
	return all
}

// run starts a chain, and makes a number of its agents fail at once.
func (c curve) run(s setting, server, dir string, failures, run int) (ms float64, asked int, err error) {
	p, err := startChain(c.binary, server, dir, s.agents, s.known)
	if err != nil {
		return 0, 0, err
	}
	defer p.end()
	time.Sleep(steadyAfter)
	return p.fail(c.signal, victims(rand.New(rand.NewPCG(uint64(run), uint64(failures))), s.agents, c.pattern, failures))
}

// onProcesses prints the points of the figure for real processes of "gridrpc up" on this machine.
func onProcesses(s setting, only string, failures []int, runs int) error {
	dir, err := os.MkdirTemp("", "gridrpc-tree")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := build(dir)
	if err != nil {
		return err
	}
	for _, c := range programs.curves() {
		if !strings.Contains(c.pattern+","+c.evidence, only) {
			continue
		}
		for _, n := range failures {
			var took []float64
			asked := 0
			for run := range runs {
				ms, more, err := c.run(s, programs.server, filepath.Join(dir, "platform"), n, run)
				if err != nil {
					return fmt.Errorf("%s, %s, %d failures: %w", c.pattern, c.evidence, n, err)
				}
				took, asked = append(took, ms), asked+more
			}
			point(c.pattern, c.evidence, n, took, asked)
		}
	}
	return nil
}
