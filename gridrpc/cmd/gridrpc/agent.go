package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/agent"
	"github.com/goulfm/goulfm/gridrpc/internal/branch"
	"github.com/goulfm/goulfm/gridrpc/internal/folder"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
)

// agentProcess is a master or an agent, as "up" starts it.
func agentProcess(ctx context.Context, role string, args []string) error {
	f := flags(role)
	name := f.String("name", role, "of this process, as in its certificate")
	tier := f.Int("tier", 0, "how far it is from the root; 0: one further than its first parent")
	detect := f.Duration("detect", 0, "how long silent processes around are waited for")
	if err := parse(f, args); err != nil {
		return err
	}
	if *tier < 0 || *tier >= branch.ServerTier {
		return fmt.Errorf("--tier %d: want 0 to %d", *tier, branch.ServerTier-1)
	}
	ctx = gridrpc.Tethered(ctx)
	dir := gridrpc.DefaultDir()
	id, err := link.Load(dir, *name)
	if err != nil {
		return err
	}
	l, err := listenAgain(dir, *name)
	if err != nil {
		return err
	}
	err = folder.SaveAddress(dir, *name, l.Addr().String())
	if role == "master" {
		err = errors.Join(err, folder.SaveMaster(dir, l.Addr().String()))
	}
	if err != nil {
		return err
	}
	return agent.Serve(ctx, agent.Config{
		Identity: id, Name: *name, Listener: l, Detect: *detect, Tier: *tier,
		Root: role == "master", Stay: os.Getenv(folder.EnvStay) != "", Parent: os.Getenv(folder.EnvParent),
		Address: func(name string) string { return folder.Address(dir, name) },
		Oracle:  func(ctx context.Context) (*pb.RootReply, error) { return folder.RootAndTerm(ctx, dir, id) },
	})
}

// listenAgain listens where an agent of this name has listened before: its children look for it
// there. If another process has that address now, anywhere.
func listenAgain(dir, name string) (net.Listener, error) {
	if addr := folder.Address(dir, name); addr != "" {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// startWithin is how long an agent may take to listen.
const startWithin = 20 * time.Second
