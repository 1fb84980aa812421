package jetstream

import (
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/goulfm/goulfm/recovery/checkpoint"
)

// cluster returns the servers of the stream, from the leader.
func (s *Store) cluster(ctx context.Context) (c *jetstream.ClusterInfo, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		info, err := s.stream.Info(ctx)
		if err == nil {
			c = info.Cluster
		}
		return err
	})
	if err == nil && c == nil {
		c = &jetstream.ClusterInfo{} // a server that is alone, and has made no copies
	}
	return c, err
}

// Locate returns the hosts of the servers that certainly have the file, because they have the whole
// stream: the leader, and the servers that have caught up with it.
func (s *Store) Locate(ctx context.Context, key string) ([]checkpoint.Host, error) {
	if err := errors.Join(ctx.Err(), checkpoint.CheckKey(key)); err != nil {
		return nil, err
	}
	if _, _, err := s.head(ctx, key); err != nil {
		return nil, err
	}
	c, err := s.cluster(ctx)
	if err != nil {
		return nil, err
	}
	return s.hostsOf(c), nil
}

// hostsOf returns the hosts of servers with the whole stream.
func (s *Store) hostsOf(c *jetstream.ClusterInfo) (hosts []checkpoint.Host) {
	servers := []string{c.Leader}
	for _, r := range c.Replicas {
		if r.Current && !r.Offline {
			servers = append(servers, r.Name)
		}
	}
	for _, name := range servers {
		host, known := s.Hosts[name]
		if !known {
			host = checkpoint.Host(name)
		}
		if host != "" {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
