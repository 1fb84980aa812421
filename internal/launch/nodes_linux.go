package launch

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/internal/daemon"
	"github.com/goulfm/goulfm/internal/fleet"
	"github.com/goulfm/goulfm/internal/jobhost"
)

// A crew does what a launcher asks for: the daemon of this machine, or those of several nodes.
type crew interface {
	jobhost.Daemon
	Announce(n int)
	Begin(start func() error) error
	OnStarter(f func())
	Expect(n int) bool
	Unexpect(n int)
	Start(p daemon.Placement) error
	Build(dir string, args []string) ([]byte, error)
	Vacant() []int
	Held() string
	Vacate(seat int) error
	Watch(first, count int)
	WatchLife(after time.Duration)
	Pid(proc int) int
	SignalAll(sig syscall.Signal)
	EndFenced(proc int)
	EndLeftovers()
	Drain()
	Ended() <-chan struct{}
	Halted() <-chan struct{}
	Over() bool
	Close()
}

// hire makes the daemon of this machine, or has those of all nodes start.
func (l *launcher) hire(ctx context.Context) error {
	if len(l.spec.Hosts.Nodes) == 0 {
		d, err := daemon.New(l, l.spec.universe())
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
	cfg := fleet.Config{Nodes: l.spec.nodesOfSeats(), Starter: starter, Within: l.spec.Hosts.StartTimeout, Version: l.spec.Hosts.Version, Iface: l.spec.Hosts.Iface}
	if cfg.Iface == "" && l.spec.Hosts.Launcher == LauncherLocal {
		cfg.Iface = loopback
	}
	for _, n := range l.spec.Hosts.Nodes {
		cfg.Names = append(cfg.Names, n.Name)
	}
	f, err := fleet.New(ctx, l, cfg)
	if err != nil {
		return fail(ExitFailed, "%w", err)
	}
	l.crew, l.Daemon, l.fleet = f, f, f
	return nil
}

const loopback = "127.0.0.1"

// starter returns what starts the daemons.
func (s *Spec) starter() (fleet.Starter, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if s.Hosts.DaemonPath != "" {
		self = s.Hosts.DaemonPath
	}
	if s.Hosts.Launcher == LauncherLocal {
		return fleet.Local{Goulfm: self}, nil
	}
	users := make([]string, len(s.Hosts.Nodes))
	for i, n := range s.Hosts.Nodes {
		users[i] = n.User
	}
	return fleet.Remote{Goulfm: self, Rsh: s.Hosts.Rsh, Users: users}, nil
}

// nodesOfSeats says on which node the process of each seat runs: ranks fill one node after the
// other, and the seats of those that are started later go round.
func (s *Spec) nodesOfSeats() []int {
	of := make([]int, 0, s.universe())
	for node, n := range s.Hosts.Nodes {
		for range n.Slots {
			if len(of) < s.N {
				of = append(of, node)
			}
		}
	}
	for seat := len(of); seat < s.universe(); seat++ {
		of = append(of, seat%len(s.Hosts.Nodes))
	}
	return of
}

// checkNodes says what is wrong with a job on several nodes.
func (s *Spec) checkNodes() error {
	if len(s.Hosts.Nodes) == 0 {
		return nil
	}
	slots := 0
	for _, n := range s.Hosts.Nodes {
		slots += n.Slots
	}
	switch {
	case s.N > slots:
		return fmt.Errorf("-n %d: the %d nodes take %d ranks: more slots (--ppn, --host NAME:SLOTS), more hosts, or fewer ranks", s.N, len(s.Hosts.Nodes), slots)
	case s.Ring || s.Fence:
		return fmt.Errorf("--detector ring, --fence: between nodes the launcher finds deaths: leave them out with --host")
	case s.Hosts.Launcher != LauncherLocal && s.Hosts.Launcher != LauncherSSH:
		return fmt.Errorf("--launcher %s: want %s or %s", s.Hosts.Launcher, LauncherLocal, LauncherSSH)
	}
	return nil
}
