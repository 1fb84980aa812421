package main

import (
	"context"
	"net"
	"os"

	"github.com/goulfm/goulfm/gridrpc"
	"github.com/goulfm/goulfm/gridrpc/internal/agent"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// agentProcess is a master or an agent, as "up" starts it.
func agentProcess(ctx context.Context, role string, args []string) error {
	f := flags(role)
	name := f.String("name", role, "of this process, as in its certificate")
	addr := f.String("listen", "127.0.0.1:0", "address")
	if err := parse(f, args); err != nil {
		return err
	}
	ctx = gridrpc.Tethered(ctx)
	id, err := link.Load(gridrpc.DefaultDir(), *name)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return err
	}
	if role == "master" {
		if err := os.WriteFile(gridrpc.MastersFile(), []byte(l.Addr().String()+"\n"), 0o600); err != nil {
			return err
		}
	}
	return agent.Serve(ctx, agent.Config{Identity: id, Name: *name, Listener: l})
}
