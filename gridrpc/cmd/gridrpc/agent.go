package main

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

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/agent"
	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/root"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
)

// agentProcess returns the command of a master or an agent, as "up" starts it.
func agentProcess(role string) func(ctx context.Context, args []string) error {
	return func(ctx context.Context, args []string) error { return runAgent(ctx, role, args) }
}

func runAgent(ctx context.Context, role string, args []string) error {
	f := flags(role)
	name := f.String("name", role, "of this process, as in its certificate")
	tier := f.Int("tier", 0, "how far it is from the root; 0: one further than its first parent")
	detect := f.Duration("detect", 0, "how long silent processes around are waited for")
	life := f.Duration("life", link.Life, "of the certificates that a master issues")
	renewAfter := f.Duration("renew-after", 0, "how old they are when they are renewed; 0: half of their life")
	port := f.Int("port", 0, "at which it listens if it can; 0: any")
	several := f.Bool("council", false, "of a master: it is one of several, of which one is the root")
	if err := parse(f, args, 0, 0); err != nil {
		return err
	}
	if *tier < 0 || *tier >= treehost.ServerTier {
		return fmt.Errorf("--tier %d: want 0 to %d", *tier, treehost.ServerTier-1)
	}
	ctx = gridrpc.Tethered(ctx)
	dir := gridrpc.DefaultDir()
	id, err := link.Load(dir, *name)
	if err != nil {
		return err
	}
	known, observed, err := discovery.Ancestors()
	if err != nil {
		return err
	}
	c := agent.Config{
		Identity: id, Name: *name, Detect: *detect, Tier: *tier, Known: known, Observed: observed,
		Root: role == "master", Stay: os.Getenv(discovery.EnvStay) != "", Parent: os.Getenv(discovery.EnvParent),
		Trace:   os.Getenv(discovery.EnvTrace) != "",
		Address: func(name string) string { return discovery.Address(dir, name) },
		Oracle:  func(ctx context.Context) (*pb.RootReply, error) { return discovery.RootAndTerm(ctx, dir, id) },
	}
	say := func(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", *name, text) }
	go id.KeepFresh(ctx, id.FromFile(dir, *name), say)
	go join.ShunRevoked(ctx, dir, id, say)
	if role == string(link.Master) {
		authority, err := link.OpenAuthority(dir, platformName)
		if err != nil {
			return err
		}
		authority.Life, authority.RenewAfter = *life, *renewAfter
		c.Desk = &join.Desk{Dir: dir, Authority: authority, Now: time.Now, Say: say}
	}
	if *several {
		return councillor(ctx, dir, c)
	}
	if c.Listener, err = listenAgain(dir, *name, *port); err != nil {
		return err
	}
	addr := c.Listener.Addr().String()
	err = discovery.SaveAddress(dir, *name, addr)
	if role == "master" {
		err = errors.Join(err, discovery.SaveMasters(dir, addr))
	}
	if err != nil {
		return err
	}
	return agent.Serve(ctx, c)
}

// councillor is one of several masters: they know each other's addresses before they are started.
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

// listenAgain listens where an agent of this name has listened before: its children look for it
// there; or at a port, if it is given and there was none. If another process has that address now,
// anywhere.
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

// startWithin is how long an agent may take to listen.
const startWithin = 20 * time.Second
