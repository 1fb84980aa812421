package root

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// Peer is a master.
type Peer struct {
	Name string
	Addr string // HOST:PORT at which it listens for the other masters
}

// Config configures the membership of a master in its group.
type Config struct {
	Name  string // of this master: one of Peers
	File  string // persistent state of this master; no other process may use it
	Peers []Peer // the same at all masters
	TLS   *tls.Config
}

// Times of the group. A time shorter than a garbage collection, or than a wait for a core, would
// depose leaders that work.
const (
	heartbeatWithin = 400 * time.Millisecond
	electWithin     = 400 * time.Millisecond
	leaseFor        = 200 * time.Millisecond
	dialWithin      = 500 * time.Millisecond
	connections     = 3 // to each other master
)

// Group is the membership of this master in the Raft group.
type Group struct {
	raft      *raft.Raft
	transport *raft.NetworkTransport
}

// Join makes this master a member of the group. The master listens from now on.
func Join(c Config) (*Group, error) {
	servers, mine, err := c.servers()
	if err != nil {
		return nil, err
	}
	d, err := openDisk(c.File)
	if err != nil {
		return nil, err
	}
	l, err := newLayer(mine, c.TLS)
	if err != nil {
		return nil, err
	}
	g := &Group{transport: raft.NewNetworkTransport(l, connections, dialWithin, io.Discard)}
	conf := raft.DefaultConfig()
	conf.LocalID, conf.LogOutput = raft.ServerID(c.Name), io.Discard
	conf.HeartbeatTimeout, conf.ElectionTimeout, conf.LeaderLeaseTimeout = heartbeatWithin, electWithin, leaseFor
	snapshots := raft.NewInmemSnapshotStore() // Raft makes a snapshot after thousands of leaders
	if known, err := raft.HasExistingState(d, d, snapshots); err != nil || !known {
		if err = errors.Join(err, raft.BootstrapCluster(conf, d, d, snapshots, g.transport, raft.Configuration{Servers: servers})); err != nil {
			return nil, errors.Join(err, g.transport.Close())
		}
	}
	if g.raft, err = raft.NewRaft(conf, nothing{}, d, d, snapshots, g.transport); err != nil {
		return nil, errors.Join(err, g.transport.Close())
	}
	return g, nil
}

// servers returns all masters in the form that Raft requires, and the address of this one.
func (c Config) servers() (list []raft.Server, mine string, err error) {
	for _, p := range c.Peers {
		list = append(list, raft.Server{ID: raft.ServerID(p.Name), Address: raft.ServerAddress(p.Addr)})
		if p.Name == c.Name {
			mine = p.Addr
		}
	}
	if mine == "" {
		return nil, "", fmt.Errorf("root: %q is none of the masters %v", c.Name, c.Peers)
	}
	return list, mine, nil
}

// Run serves the group until ctx is done. Run calls reign each time this master becomes the root,
// with a term greater than that of any earlier root. The context of reign ends with the reign.
func (g *Group) Run(ctx context.Context, reign func(ctx context.Context, term uint64)) error {
	end := func() {}
	for {
		select {
		case <-ctx.Done():
			end()
			return errors.Join(g.raft.Shutdown().Error(), g.transport.Close())
		case leads := <-g.raft.LeaderCh():
			end() // also if Raft did not report the loss between two reigns
			end = func() {}
			if leads {
				end = begin(ctx, g.raft.CurrentTerm(), reign)
			}
		}
	}
}

// begin begins a reign, and returns the function that ends it and waits for its end.
func begin(ctx context.Context, term uint64, reign func(context.Context, uint64)) (end func()) {
	one, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { defer close(over); reign(one, term) }()
	return func() { cancel(); <-over }
}

// nothing is the state machine of the group, which has no state.
type nothing struct{}

// Apply has no effect: the only entries are the empty ones of new leaders.
func (nothing) Apply(*raft.Log) any { return nil }

// Snapshot returns an empty snapshot.
func (nothing) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }

// Restore ignores the snapshot.
func (nothing) Restore(r io.ReadCloser) error { return r.Close() }

// Persist writes nothing.
func (nothing) Persist(s raft.SnapshotSink) error { return s.Close() }

// Release has no effect.
func (nothing) Release() {}
