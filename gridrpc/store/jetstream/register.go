package jetstream

import (
	"context"
	"fmt"

	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

func init() { store.Register("jetstream", openFor) }

// openFor opens a store with the certificate of a process of the platform.
func openFor(ctx context.Context, name string, p store.Process) (checkpoint.Store, error) {
	config, err := p.TLS()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	hosts, err := p.Hosts()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	s, err := Open(ctx, name, config)
	if err != nil {
		return nil, err
	}
	s.Hosts = hosts
	return s, nil
}
