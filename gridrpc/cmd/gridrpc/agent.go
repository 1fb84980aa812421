package main

import (
	"context"

	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/platform"
)

// agentProcess returns the command of a master or an agent, as "up" starts it.
func agentProcess(role string) func(ctx context.Context, args []string) error {
	return func(ctx context.Context, args []string) error {
		f := flags(role)
		a := platform.Agent{Master: role == string(link.Master)}
		f.StringVar(&a.Name, "name", role, "of this process, as in its certificate")
		f.IntVar(&a.Tier, "tier", 0, "how far it is from the root; 0: one further than its first parent")
		f.DurationVar(&a.Detect, "detect", 0, "how long silent processes around are waited for")
		f.DurationVar(&a.Life, "life", link.Life, "of the certificates that a master issues")
		f.DurationVar(&a.RenewAfter, "renew-after", 0, "how old they are when they are renewed; 0: half of their life")
		f.IntVar(&a.Port, "port", 0, "at which it listens if it can; 0: any")
		f.BoolVar(&a.Council, "council", false, "of a master: it is one of several, of which one is the root")
		if err := parse(f, args, 0, 0); err != nil {
			return err
		}
		return asFlag(role, platform.ServeAgent(ctx, a))
	}
}
