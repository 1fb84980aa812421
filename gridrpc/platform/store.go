package platform

import (
	"context"
	"strings"

	"github.com/goulfm/goulfm/gridrpc/internal/discovery"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
)

// ownStore stands for the store in processes of the platform, and is the scheme of its name.
const ownStore = "jetstream"

// replicas is the number of processes of that store, of which one may be lost.
const replicas = 3

// startStore starts that store, and waits until it can be used.
func (p *platform) startStore(ctx context.Context, authority *issuer) error {
	list, err := p.reserve(ctx, discovery.Replicas, "st", replicas)
	if err != nil {
		return err
	}
	var addrs []string
	for i, r := range list {
		addrs = append(addrs, r.Addr)
		err := authority.issue(link.Store, r.Name)
		if err == nil {
			err = p.children.startAt(p.hosts.remote(i), r.Name, nil, p.command, "store", "--name", r.Name, "--data", p.storeDir)
		}
		if err != nil {
			return err
		}
	}
	return p.nameStore(ctx, ownStore+"://"+strings.Join(addrs, ","))
}
