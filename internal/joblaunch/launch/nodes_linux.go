package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/joblaunch/daemon"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonclient"
	"github.com/goulfm/goulfm/internal/joblaunch/daemonproto"
	"github.com/goulfm/goulfm/internal/joblaunch/jobhost"
	"github.com/goulfm/goulfm/internal/net/socket"
	"github.com/goulfm/goulfm/internal/protocol/job"
	"github.com/goulfm/goulfm/internal/protocol/membership"
)

// A crew serves the launcher's requests about processes. It is the daemon of this machine, or the
// client of the daemons of several nodes.
type crew interface {
	jobhost.Daemon
	Announce(n int)
	Begin(start func() error) error
	OnStarter(f func())
	Expect(n int) bool
	Unexpect(n int)
	Start(p daemon.Placement) error
	Build(dir string, args []string) ([]byte, error)
	Holdings() []job.Holding
	Barred() []int
	Vacate(proc int) error
	Watch(first, count int)
	WatchLife(after time.Duration)
	Pid(proc int) int
	SignalAll(sig syscall.Signal)
	Hold(on bool)
	EndFenced(proc int)
	EndLeftovers()
	Drain()
	Ended() <-chan struct{}
	Halted() <-chan struct{}
	Over() bool
	Close()
}

// hire makes the daemon of this machine, or starts the daemons of all nodes.
func (l *launcher) hire(ctx context.Context, lives *lives) error {
	if len(l.spec.Hosts.Nodes) == 0 {
		kept, err := lives.memory(l)
		if err != nil {
			return fail(ExitFailed, "%w", err)
		}
		d, err := daemon.New(l, l.spec.universe(), kept)
		if err != nil {
			return fail(ExitFailed, "%w", err)
		}
		l.crew, l.Daemon = d, d
		return nil
	}
	starter, err := l.spec.starter()
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	secure, err := l.spec.secure()
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	cfg := daemonclient.Config{Nodes: l.spec.nodesOfSlots(), Ranks: l.spec.N, Starter: starter, Within: l.spec.Hosts.StartTimeout, Iface: l.spec.Hosts.Iface, Beats: l.spec.beats(), Secure: secure, Cuts: l.spec.waysOfAll(), Homes: l.spec.N, Late: l.spec.lateNodes(), Came: func() { l.Apply(job.Roomier{}) }}
	if l.spec.Hosts.Launcher != LauncherLocal {
		cfg.Program = l.prog.path
	}
	if l.spec.Hosts.Survive {
		cfg.OutputDir, err = filepath.Abs(l.spec.OutputDir)
		if err != nil {
			return fail(ExitFailed, "--output-dir: %w", err)
		}
		cfg.Deserted, cfg.Unwritten = l.desert, l.outputFailed
	}
	if cfg.Iface == "" && l.spec.Hosts.Launcher == LauncherLocal {
		cfg.Iface = socket.Loopback()
	}
	for _, n := range l.spec.Hosts.Nodes {
		cfg.Names = append(cfg.Names, n.Name)
	}
	cfg.Racks = l.spec.racks()
	f, err := daemonclient.New(ctx, l, cfg)
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	l.crew, l.Daemon, l.remote = f, f, f
	return nil
}

// desert ends the launcher of a job that has continued without its launcher.
func (l *launcher) desert(why string) {
	l.Apply(job.Interrupted{Code: ExitFenced, Why: "the job goes on without this launcher: " + why})
}

// starter returns the starter of the daemons.
func (s *Spec) starter() (daemonclient.Starter, error) {
	if s.Hosts.Launcher == LauncherEngine {
		return s.Hosts.Starter, nil
	}
	self, err := os.Executable()
	if s.Hosts.DaemonPath != "" {
		self = s.Hosts.DaemonPath
	} else if err != nil {
		return nil, fmt.Errorf("the file of goulfm: %w: mount /proc, or name the file with --daemon-path", err)
	}
	if s.Hosts.Launcher == LauncherLocal {
		return daemonclient.Local{Goulfm: self}, nil
	}
	if s.Hosts.Launcher == LauncherSlurm {
		slurm := &daemonclient.Slurm{Goulfm: self}
		for _, n := range s.Hosts.Nodes {
			slurm.Nodes = append(slurm.Nodes, n.Name)
		}
		return slurm, nil
	}
	users := make([]string, len(s.Hosts.Nodes))
	for i, n := range s.Hosts.Nodes {
		users[i] = n.User
	}
	return daemonclient.Remote{Goulfm: self, Rsh: s.Hosts.Rsh, Users: users}, nil
}

// secure returns how the members of a job on several nodes protect their connections.
func (s *Spec) secure() (socket.Mode, error) {
	switch {
	case s.Hosts.Secure != "":
		return socket.ParseMode(s.Hosts.Secure)
	case s.Hosts.Launcher == LauncherLocal:
		return socket.Auth, nil
	}
	return socket.TLS, nil
}

// beats are the times with which nodes monitor each other.
func (s *Spec) beats() daemonproto.Beats {
	return daemonproto.Beats{Period: s.Period, Timeout: s.Period * time.Duration(s.Factor), Confirm: s.Hosts.Confirm, Link: s.Hosts.LinkTimeout, Orphan: s.Hosts.OrphanAfter, Survive: s.Hosts.Survive, Detection: s.Hosts.Detection}
}

// racks returns the rack of each node, or nil if none is given.
func (s *Spec) racks() []string {
	racks := make([]string, len(s.Hosts.Nodes))
	for i, n := range s.Hosts.Nodes {
		racks[i] = n.Rack
	}
	if strings.Join(racks, "") == "" {
		return nil
	}
	return racks
}

// nodesOfSlots returns the node of each slot; nil: there is one node. Ranks fill one node after the
// other. Each node then has a row of the slots for processes that are started later, and each node
// that may join later has a row of its own.
func (s *Spec) nodesOfSlots() []int {
	if len(s.Hosts.Nodes) == 0 {
		return nil
	}
	of := make([]int, 0, s.universe())
	for node, n := range s.Hosts.Nodes {
		for range n.Slots {
			if len(of) < s.N {
				of = append(of, node)
			}
		}
	}
	later := s.firstSlots() - len(of)
	for slot := range later {
		of = append(of, slot*len(s.Hosts.Nodes)/later)
	}
	for late := range s.lateNodes() {
		of = append(of, slices.Repeat([]int{len(s.Hosts.Nodes) + late}, s.slotsMax())...)
	}
	return of
}

// checkNodes reports an error in the nodes of a job.
func (s *Spec) checkNodes() error {
	if len(s.Hosts.Nodes) == 0 {
		return nil
	}
	if most := membership.MembersMax - 1; len(s.Hosts.Nodes) > most {
		return fmt.Errorf("%d nodes: at most %d are possible, because one coordinator renews the leases of all: use fewer nodes with more ranks each (--ppn)", len(s.Hosts.Nodes), most)
	}
	if s.Hosts.Detection != 0 && s.Hosts.Confirm != 0 {
		return fmt.Errorf("--confirm: a tenth of --detection is for the answer: leave one of them out")
	}
	if err := s.beats().Roster(len(s.Hosts.Nodes)+s.lateNodes()+1, membership.Launcher).Check(); err != nil {
		return fmt.Errorf("--period, --timeout-factor, --confirm, --detection, --link-timeout, --orphan-after: %w", err)
	}
	if _, err := s.secure(); err != nil {
		return fmt.Errorf("--secure: %w", err)
	}
	slots := 0
	for _, n := range s.Hosts.Nodes {
		slots += n.Slots
	}
	if err := errors.Join(s.checkSurvive(), s.checkCuts()); err != nil {
		return err
	}
	switch {
	case s.N > slots:
		return fmt.Errorf("-n %d: the %d nodes take %d ranks: more slots (--ppn, --host NAME:SLOTS), more hosts, or fewer ranks", s.N, len(s.Hosts.Nodes), slots)
	case s.Ring || s.Fence:
		return fmt.Errorf("--detector ring, --fence: between nodes the launcher finds deaths: leave them out with --host")
	case s.Hosts.Launcher != LauncherLocal && s.Hosts.Launcher != LauncherSSH && s.Hosts.Launcher != LauncherSlurm && s.Hosts.Starter == nil:
		return fmt.Errorf("--launcher %s: want %s, %s or %s", s.Hosts.Launcher, LauncherLocal, LauncherSSH, LauncherSlurm)
	}
	return nil
}

// checkCuts reports an error in the planned cuts.
func (s *Spec) checkCuts() error {
	for _, c := range s.Cuts {
		if len(s.Hosts.Nodes) == 0 || s.Hosts.Launcher != LauncherLocal {
			return fmt.Errorf("--cut %s: it takes nodes of this machine (--host NUMBER, --launcher local)", c.Text)
		}
		for _, group := range c.Groups {
			for _, node := range group {
				if node < LauncherNode || node >= len(s.Hosts.Nodes) {
					return fmt.Errorf("--cut %s: there are nodes 0 to %d, and the launcher", c.Text, len(s.Hosts.Nodes)-1)
				}
			}
		}
	}
	if len(s.Cuts) > 0 && slices.ContainsFunc(s.Kills, func(k Kill) bool { return k.Self }) {
		return fmt.Errorf("--cut, --kill launcher: the launcher makes the cuts: try one at a time")
	}
	return nil
}

// waysOf returns the ways that a cut blocks: all ways between members of different groups or, if
// the cut is OneWay, from the first group to the second.
func (s *Spec) waysOf(c Cut) (ways []daemonclient.Way) {
	group := make([]int, len(s.Hosts.Nodes)+1) // of each member
	for g, nodes := range c.Groups {
		for _, node := range nodes {
			group[node+1] = g
		}
	}
	if c.OneWay {
		for _, from := range c.Groups[0] {
			for _, to := range c.Groups[1] {
				ways = append(ways, daemonclient.Way{From: from + 1, To: to + 1})
			}
		}
		return ways
	}
	for from := range group {
		for to := range group {
			if group[from] != group[to] {
				ways = append(ways, daemonclient.Way{From: from, To: to})
			}
		}
	}
	return ways
}

// waysOfAll returns the ways of all planned cuts.
func (s *Spec) waysOfAll() (ways []daemonclient.Way) {
	for _, c := range s.Cuts {
		ways = append(ways, s.waysOf(c)...)
	}
	return ways
}

// checkSurvive reports an error in a job that should outlive its launcher.
func (s *Spec) checkSurvive() error {
	switch {
	case !s.Hosts.Survive:
		return nil
	case s.OutputDir == "":
		return fmt.Errorf("--survive-launcher: name with --output-dir the folder for the output of the ranks: the launcher may be gone")
	case s.Tag || s.Timestamp:
		return fmt.Errorf("--tag, --timestamp: with --survive-launcher each rank has files of its own, in --output-dir on its node")
	case len(s.Hosts.Nodes) < 2:
		return fmt.Errorf("--survive-launcher: with %d node and the launcher no majority is left of one that goes: have 2 nodes or more", len(s.Hosts.Nodes))
	}
	return nil
}
