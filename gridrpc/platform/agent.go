package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc/internal/agent"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/root"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
)

// Agent describes a master or an agent, which is a process of its own.
type Agent struct {
	Name       string        // as in the certificate
	Master     bool          // else an agent
	Council    bool          // of a master: one of several, of which one is the root
	Tier       int           // distance from the root; 0: one more than that of the first parent
	Detect     time.Duration // time after which silent neighbors are declared dead
	Life       time.Duration // of the certificates that a master issues
	RenewAfter time.Duration // age at which they are renewed; 0: half of Life
	Port       int           // of its address, if that port is free; 0: any
}

// ServeAgent is a master or an agent of the platform whose folder the environment names, until ctx
// is done or the process that has started this process ends.
func ServeAgent(ctx context.Context, a Agent) error {
	if a.Tier < 0 || a.Tier >= treehost.ServerTier {
		return &ConfigError{"Tier", a.Tier, fmt.Sprintf("0 to %d", treehost.ServerTier-1)}
	}
	ctx = discovery.Tethered(ctx)
	dir := discovery.Default()
	id, err := link.Load(dir, a.Name)
	if err != nil {
		return err
	}
	known, observed, err := discovery.Ancestors()
	if err != nil {
		return err
	}
	c := agent.Config{
		Identity: id, Name: a.Name, Detect: a.Detect, Tier: a.Tier, Known: known, Observed: observed,
		Root: a.Master, Stay: os.Getenv(discovery.EnvStay) != "", Parent: os.Getenv(discovery.EnvParent),
		Trace:   os.Getenv(discovery.EnvTrace) != "",
		Address: func(name string) string { return discovery.Address(dir, name) },
		Oracle:  func(ctx context.Context) (*pb.RootReply, error) { return discovery.RootAndTerm(ctx, dir, id) },
	}
	say := func(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", a.Name, text) }
	go id.KeepFresh(ctx, id.FromFile(dir, a.Name), say)
	go join.ShunRevoked(ctx, dir, id, say)
	if a.Master {
		authority, err := link.OpenAuthority(dir, platformName)
		if err != nil {
			return err
		}
		authority.Life, authority.RenewAfter = a.Life, a.RenewAfter
		c.Desk = &join.Desk{Dir: dir, Authority: authority, Now: time.Now, Say: say}
	}
	if a.Council {
		return councillor(ctx, dir, c)
	}
	if c.Listener, err = listenAgain(dir, a.Name, a.Port); err != nil {
		return err
	}
	addr := c.Listener.Addr().String()
	err = discovery.SaveAddress(dir, a.Name, addr)
	if a.Master {
		err = errors.Join(err, discovery.SaveMasters(dir, addr))
	}
	if err != nil {
		return err
	}
	return agent.Serve(ctx, c)
}

// councillor serves one of several masters. They know each other's addresses before their start.
func councillor(ctx context.Context, dir string, c agent.Config) error {
	list, err := discovery.Peers(dir, discovery.Council)
	if err != nil {
		return err
	}
	g := root.Config{Name: c.Name, File: filepath.Join(dir, c.Name+".raft"), TLS: c.Identity.TLS(link.Master)}
	for _, p := range list {
		g.Peers = append(g.Peers, root.Peer{Name: p.Name, Addr: p.Route})
		if p.Name == c.Name {
			c.Listener, err = net.Listen("tcp", p.Addr)
		}
	}
	if err == nil {
		err = discovery.SaveAddress(dir, c.Name, c.Listener.Addr().String())
	}
	if err != nil {
		return err
	}
	group, err := root.Join(g)
	if err != nil {
		return err
	}
	return agent.ServeMaster(ctx, c, group)
}

// listenAgain listens at the former address of an agent with this name, because its children
// expect the agent there; without a former address at the given port, if the port is above 0. If
// another process has that address now, listenAgain listens at any port.
func listenAgain(dir, name string, port int) (net.Listener, error) {
	addr := discovery.Address(dir, name)
	if host, _, err := net.SplitHostPort(discovery.ListenAt()); addr == "" && port > 0 && err == nil {
		addr = net.JoinHostPort(host, strconv.Itoa(port))
	}
	if addr != "" {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return net.Listen("tcp", discovery.ListenAt())
}

// startWithin bounds the time from the start of an agent until it listens.
const startWithin = 20 * time.Second
