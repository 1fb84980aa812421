package main

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

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store/jetstream"
)

// Names in certificates.
const (
	onlyMaster = "ma"     // the master, where there is one
	clientName = "client" // all clients that see the platform's folder
)

// platform is what "up" starts.
type platform struct {
	dir        string
	begun      time.Time
	restarts   bool
	detect     time.Duration
	masterPort string        // where the master of the platform before has listened, for those who know it; "0": there was none
	life       time.Duration // of certificates
	renewAfter time.Duration // 0: half of that
	masters    int
	agents     int
	servers    int
	hosts      hosts
	children   *children

	ancestors  int // that each process of the tree knows; 0: the default
	observers  int // of them that it observes; 0: the default
	noRecovery bool
	ownStore   bool // the platform holds its checkpoints itself
	storeDir   string
}

func up(ctx context.Context, args []string) error {
	f := flags("up")
	tree := f.String("tree", "2x2", "`AxB` agents below each agent, level by level, the last number servers; several trees by commas")
	ancestors := f.Int("ancestors", 16, fmt.Sprintf("each agent and server knows `F` ancestors, 1 to %d: it finds a parent without the master after fewer deaths in a row", discovery.KnownMax))
	observers := f.Int("observers", 0, "each agent and server observes the nearest `M` of them; 0: (F-1)/4, rounded up")
	noRecovery := f.Bool("no-recovery", false, "let a process that loses its parent search no other one: for comparisons")
	masters := f.Int("masters", 1, "`N` masters, 1, 3 or 5: of several, one is the root, and a minority may be lost")
	noRestart := f.Bool("no-restart", false, "start no process anew that has died")
	store := f.String("store", "DIR/store", "`STORE` of checkpoints: a folder that all servers see, s3://BUCKET/FOLDER (go doc ./store/s3), or jetstream: three processes of the platform; empty: none")
	storeDir := f.String("store-dir", "", "`FOLDER` on each machine for the files of --store jetstream; by default in that of the platform")
	hosts := f.String("hosts", "", "`A,B,C` machines that see the platform's folder and have this command and PROGRAM at the same place; processes start on them in turn. Or a number of machines to imitate")
	rsh := f.String("rsh", sshCommand, "`COMMAND` that gets a machine and a command to run there")
	var programs sandboxed
	programs.register(f)
	detect := f.Duration("detect", 5*time.Second, "declare silent agents and servers dead within this time")
	listen := f.String("listen", "", "`HOST`: name or address at which other machines reach this one; by default the loopback address")
	life := f.Duration("certificates", link.Life, "certificates last this long, and are renewed at half of it")
	renewAfter := f.Duration("renew-after", 0, "renew certificates at this age; 0: half of --certificates")
	if err := programs.parse(f, args); err != nil {
		return err
	}
	sites, err := parseSites(*tree)
	machines, bad := parseHosts(*hosts, *rsh)
	if err == nil {
		err = bad
	}
	if err == nil && (*ancestors < 1 || *ancestors > discovery.KnownMax) {
		err = mistake{"up", fmt.Sprintf("--ancestors %d: want 1 to %d", *ancestors, discovery.KnownMax)}
	}
	if err == nil && (*observers < 0 || *observers > *ancestors) {
		err = mistake{"up", fmt.Sprintf("--observers %d: want 1 to --ancestors, %d", *observers, *ancestors)}
	}
	if err == nil && *masters != 1 && *masters != 3 && *masters != 5 {
		err = mistake{"up", fmt.Sprintf("--masters %d: want 1, 3 or 5: a majority of them has to be there", *masters)}
	}
	if err == nil && *life < lifeMin {
		err = mistake{"up", fmt.Sprintf("--certificates %v: want %v at least: they have to be renewed before they end", *life, lifeMin)}
	}
	if err == nil && *renewAfter != 0 && (*renewAfter < lifeMin/2 || *renewAfter > *life/2) {
		err = mistake{"up", fmt.Sprintf("--renew-after %v: want %v at least, and at most half of --certificates, %v", *renewAfter, lifeMin/2, *life)}
	}
	if err == nil && *listen != "" {
		err = os.Setenv(discovery.EnvListen, *listen)
	}
	if err != nil {
		return err
	}
	if err := os.Unsetenv(gridrpc.EnvIdentity); err != nil { // of another platform, perhaps: here everybody sees the folder
		return err
	}
	dir, err := filepath.Abs(gridrpc.DefaultDir())
	if err != nil {
		return err
	}
	p := &platform{masters: *masters, hosts: machines, dir: dir, begun: time.Now(), restarts: !*noRestart, detect: *detect, life: *life, renewAfter: *renewAfter, noRecovery: *noRecovery, ancestors: *ancestors, observers: *observers}
	err = errors.Join(p.prepare(), p.hosts.listen())
	var server []string
	switch {
	case err != nil:
	case f.NArg() > 0:
		server, err = p.program(ctx, f.Args())
	default:
		server, err = programs.server()
	}
	if *storeDir != "" && err == nil {
		p.storeDir, err = filepath.Abs(*storeDir)
	}
	if p.ownStore = *store == ownStore; err == nil && !p.ownStore {
		err = p.nameStore(ctx, *store)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.children = newChildren(ctx, p)
	err = p.start(sites, server)
	if err == nil {
		err = p.awaitService(ctx)
	}
	if err != nil && ctx.Err() == nil {
		cancel()
		p.children.wait()
		return err
	}
	if ctx.Err() == nil {
		p.say("serving in %s; \"gridrpc ls\" lists, \"gridrpc call\" calls, interrupt to end", p.dir)
	}
	<-ctx.Done()
	p.children.wait()
	p.say("ended")
	return os.RemoveAll(discovery.MastersFile(p.dir)) // clients are told that there is no platform
}

// parseSites reads trees of sites, by commas. One tree is below the master; of several each is
// below an agent of its own, which is below the master.
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
		return nil, mistake{"up", fmt.Sprintf("--tree %s: more than %d processes", text, processesMax)}
	}
	return sites, nil
}

// processesOf returns how many processes levels have, or more than processesMax if that is so.
func processesOf(levels []int) (all int) {
	for i, width := 0, 1; i < len(levels); i++ {
		width = min(width*levels[i], processesMax+1)
		all += width
	}
	return all
}

// processesMax bounds a platform on one machine.
const processesMax = 4096

// parseTree reads how many there are below each agent, level by level: AxBxC.
func parseTree(text string) (levels []int, err error) {
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, mistake{"up", fmt.Sprintf("--tree %s: want numbers above 0, such as 2x4: two agents with four servers each", text)}
		}
		levels = append(levels, n)
	}
	if processesOf(levels) > processesMax {
		return nil, mistake{"up", fmt.Sprintf("--tree %s: more than %d processes", text, processesMax)}
	}
	return levels, nil
}

func (p *platform) say(format string, args ...any) {
	fmt.Printf("+%.3fs %s\n", time.Since(p.begun).Seconds(), fmt.Sprintf(format, args...))
}

// prepare makes the folder, and removes what the platform before has said there of its processes.
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

// program is the command of servers: it builds the program, if that is a folder.
func (p *platform) program(ctx context.Context, command []string) ([]string, error) {
	info, err := os.Stat(command[0])
	if err != nil {
		return nil, fmt.Errorf("PROGRAM %s: %w: want a program that calls gridrpc.Main, or the folder of one", command[0], errors.Unwrap(err))
	}
	if !info.IsDir() {
		path, err := filepath.Abs(command[0]) // also for other machines
		return append([]string{path}, command[1:]...), err
	}
	binary := filepath.Join(p.dir, "program")
	return append([]string{binary}, command[1:]...), p.build(ctx, command[0], binary)
}

// nameStore tells servers where checkpoints are kept.
func (p *platform) nameStore(ctx context.Context, name string) error {
	if name == "DIR/store" {
		name = filepath.Join(p.dir, "store")
	}
	s, err := gridrpc.OpenStore(name)
	if err != nil {
		return err
	}
	if own, ok := s.(*jetstream.Store); ok {
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

// start starts all processes, level by level: each finds its parent.
func (p *platform) start(sites [][]int, program []string) error {
	authority, err := openIssuer(p.dir, p.life, p.renewAfter)
	if err == nil {
		err = authority.issue(link.Client, clientName)
	}
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	go authority.keepFresh(p.children.ctx, p.say)
	if p.ownStore {
		if err := p.startStore(p.children.ctx, authority, self); err != nil {
			return err
		}
	}
	first, err := p.startMasters(authority, self)
	for _, levels := range sites {
		if err == nil {
			err = p.startSite(authority, self, first, levels, program)
		}
	}
	return err
}

// startMasters starts the masters, and returns the configured parents of who is next to the root:
// of one of several nobody knows whether it is the root, which is asked for. A master that is the
// only one is on this machine, which the platform cannot lose in any case.
func (p *platform) startMasters(authority *issuer, self string) (parents []string, err error) {
	if p.masters == 1 {
		return p.startAgents(authority, self, link.Master, 0, []string{""}, 1)
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
			err = p.children.startAt(p.hosts.remote(i), m.Name, nil, self, string(link.Master), "--name", m.Name, "--detect", p.detect.String(), "--life", p.life.String(), "--renew-after", p.renewAfter.String(), "--council")
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
func (p *platform) startSite(authority *issuer, self string, parents []string, levels []int, program []string) (err error) {
	for i := range levels[:len(levels)-1] {
		if err == nil {
			parents, err = p.startAgents(authority, self, link.Agent, i+1, parents, levels[i])
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

// startAgents starts so many agents below each parent, and returns their names. Their tier is
// configured: one that is started anew while its parent is away can come home later.
func (p *platform) startAgents(authority *issuer, self string, role link.Role, tier int, parents []string, each int) (names []string, err error) {
	for _, parent := range parents {
		for range each {
			name, port, at := onlyMaster, p.masterPort, remote{}
			if role == link.Agent {
				name, port, at = fmt.Sprintf("a%d", p.agents+1), "0", p.hosts.remote(p.agents)
				p.agents++
			}
			err := authority.issue(role, name)
			if err == nil {
				err = p.children.startAt(at, name, []string{discovery.EnvParent + "=" + parent}, self, string(role), "--name", name, "--detect", p.detect.String(), "--life", p.life.String(), "--renew-after", p.renewAfter.String(), "--port", port, "--tier", strconv.Itoa(tier))
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
