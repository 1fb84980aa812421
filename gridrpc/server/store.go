package server

import (
	"context"
	"crypto/tls"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/store"
	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// openStore returns the store of the platform in folder dir, for a process with an identity; nil
// if the platform has none.
func openStore(ctx context.Context, dir string, id *link.Identity) (checkpoint.Store, error) {
	name, err := discovery.Store(dir)
	if err != nil {
		return nil, err
	}
	return store.OpenFor(ctx, name, store.Process{
		TLS:   func() (*tls.Config, error) { return id.TLS(link.Store), nil },
		Hosts: func() (map[string]checkpoint.Host, error) { return discovery.StoreHosts(dir) },
	})
}
