package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store"
)

// parseSites reads trees of sites, by commas. A single tree is below the master. Each of several
// trees is below an agent of its own, which is below the master.
func parseSites(text string) (sites [][]int, err error) {
	all := 0
	for part := range strings.SplitSeq(text, ",") {
		levels, err := parseTree(part)
		if err != nil {
			return nil, err
		}
		sites = append(sites, levels)
	}
	if len(sites) == 1 {
		return sites, nil
	}
	for i, levels := range sites {
		sites[i] = append([]int{1}, levels...)
		all += processesOf(sites[i])
	}
	if all > processesMax {
		return nil, &ConfigError{"Tree", text, fmt.Sprintf("%d processes at most", processesMax)}
	}
	return sites, nil
}

// processesOf returns the number of processes of levels, or a number above processesMax.
func processesOf(levels []int) (all int) {
	for i, width := 0, 1; i < len(levels); i++ {
		width = min(width*levels[i], processesMax+1)
		all += width
	}
	return all
}

// processesMax bounds a platform on one machine.
const processesMax = 4096

// parseTree reads the numbers of processes below each agent, level by level: AxBxC.
func parseTree(text string) (levels []int, err error) {
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, &ConfigError{"Tree", text, "numbers above 0, such as 2x4: two agents with four servers each"}
		}
		levels = append(levels, n)
	}
	if processesOf(levels) > processesMax {
		return nil, &ConfigError{"Tree", text, fmt.Sprintf("%d processes at most", processesMax)}
	}
	return levels, nil
}

func (p *platform) say(format string, args ...any) {
	fmt.Fprintf(p.out, "+%.3fs %s\n", time.Since(p.begun).Seconds(), fmt.Sprintf(format, args...))
}

// prepare makes the folder, and removes the addresses of the former platform.
func (p *platform) prepare() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(p.dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("%s: others than its owner may look into it", p.dir)
	}
	if err != nil {
		return err
	}
	p.masterPort = portOf(discovery.Address(p.dir, onlyMaster))
	old, _ := filepath.Glob(discovery.AddressFile(p.dir, "*"))
	votes, _ := filepath.Glob(filepath.Join(p.dir, "*.raft"))
	for _, path := range slices.Concat(old, votes, []string{discovery.MastersFile(p.dir)}) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// portOf returns the port of an address, or "0".
func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "0"
	}
	return port
}

// program returns the command of the servers. A folder is built first.
func (p *platform) program(ctx context.Context, command []string) ([]string, error) {
	info, err := os.Stat(command[0])
	if err != nil {
		return nil, fmt.Errorf("PROGRAM %s: %w: want a program that calls server.Main, or the folder of one", command[0], errors.Unwrap(err))
	}
	if !info.IsDir() {
		path, err := filepath.Abs(command[0]) // also for other machines
		return append([]string{path}, command[1:]...), err
	}
	binary := filepath.Join(p.dir, "program")
	return append([]string{binary}, command[1:]...), p.build(ctx, command[0], binary)
}

// nameStore opens the store for a check, and writes its name for the servers.
func (p *platform) nameStore(ctx context.Context, name string) error {
	s, err := store.Open(ctx, name)
	if err != nil {
		return err
	}
	if own, ok := s.(sweeper); ok {
		err := own.Sweep(ctx)
		own.Close()
		if err != nil {
			return err
		}
	}
	if name != "" && !strings.Contains(name, "://") {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		name = abs
	}
	return discovery.SaveStore(p.dir, name)
}

// sweeper is a store with connections that deletes the remains of interrupted writes on request.
type sweeper interface {
	Sweep(ctx context.Context) error
	Close()
}

// start starts all processes, level by level: each finds its parent.
func (p *platform) start(sites [][]int, program []string) error {
	authority, err := openIssuer(p.dir, p.life, p.renewAfter)
	if err == nil {
		err = authority.issue(link.Client, discovery.ClientName)
	}
	if err != nil {
		return err
	}
	go authority.keepFresh(p.children.ctx, p.say)
	if p.ownStore {
		if err := p.startStore(p.children.ctx, authority); err != nil {
			return err
		}
	}
	first, err := p.startMasters(authority)
	for _, levels := range sites {
		if err == nil {
			err = p.startSite(authority, first, levels, program)
		}
	}
	return err
}

// startMasters starts the masters, and returns the configured parents of the next level. With
// several masters that is no name: a process asks which master is the root. An only master runs
// on this machine, whose loss ends the platform in any case.
func (p *platform) startMasters(authority *issuer) (parents []string, err error) {
	if p.masters == 1 {
		return p.startAgents(authority, link.Master, 0, []string{""}, 1)
	}
	list, err := p.reserve(p.children.ctx, discovery.Council, "ma", p.masters)
	var addrs []string
	for _, m := range list {
		addrs = append(addrs, m.Addr)
	}
	if err == nil {
		err = discovery.SaveMasters(p.dir, addrs...)
	}
	for i, m := range list {
		if err == nil {
			err = authority.issue(link.Master, m.Name)
		}
		if err == nil {
			err = p.children.startAt(p.hosts.remote(i), m.Name, nil, p.command, string(link.Master), "--name", m.Name, "--detect", p.detect.String(), "--life", p.life.String(), "--renew-after", p.renewAfter.String(), "--council")
		}
	}
	for _, m := range list {
		if err == nil {
			err = p.awaitAddress(m.Name)
		}
	}
	return []string{""}, err
}

// startSite starts a tree below the master.
func (p *platform) startSite(authority *issuer, parents []string, levels []int, program []string) (err error) {
	for i := range levels[:len(levels)-1] {
		if err == nil {
			parents, err = p.startAgents(authority, link.Agent, i+1, parents, levels[i])
		}
	}
	if err != nil {
		return err
	}
	for _, parent := range parents {
		for range levels[len(levels)-1] {
			p.servers++
			name := fmt.Sprintf("s%d", p.servers)
			env := []string{discovery.EnvParent + "=" + parent, discovery.EnvDetect + "=" + p.detect.String(), discovery.EnvHost + "=" + p.hosts.of(p.servers-1)}
			err := authority.issue(link.Worker, name)
			if err == nil {
				err = p.children.startAt(p.hosts.remote(p.servers-1), name, env, program[0], program[1:]...)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// startAgents starts a number of agents below each parent, and returns their names. Their tier is
// configured: an agent that is started anew without its parent can attach to the parent later.
func (p *platform) startAgents(authority *issuer, role link.Role, tier int, parents []string, each int) (names []string, err error) {
	for _, parent := range parents {
		for range each {
			name, port, at := onlyMaster, p.masterPort, remote{}
			if role == link.Agent {
				name, port, at = fmt.Sprintf("a%d", p.agents+1), "0", p.hosts.remote(p.agents)
				p.agents++
			}
			err := authority.issue(role, name)
			if err == nil {
				err = p.children.startAt(at, name, []string{discovery.EnvParent + "=" + parent}, p.command, string(role), "--name", name, "--detect", p.detect.String(), "--life", p.life.String(), "--renew-after", p.renewAfter.String(), "--port", port, "--tier", strconv.Itoa(tier))
			}
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
	}
	for _, name := range names {
		if err := p.awaitAddress(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// awaitAddress waits until an agent listens.
func (p *platform) awaitAddress(name string) error {
	for end := time.Now().Add(startWithin); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if discovery.Address(p.dir, name) != "" {
			return nil
		}
	}
	return fmt.Errorf("%s did not listen within %v", name, startWithin)
}
