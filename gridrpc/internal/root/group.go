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
	Addr string // HOST:PORT at which it takes the other masters
}

// Config is what a master joins its group with.
type Config struct {
	Name  string // of this master: one of Peers
	File  string // what must outlive this process is there: nobody else may use it
	Peers []Peer // the same at all masters
	TLS   *tls.Config
}

// Times of the group. The design of a leader's end is that of Raft: what is shorter than a garbage
// collection, or a wait for a core, would end good ones.
const (
	heartbeatWithin = 400 * time.Millisecond
	electWithin     = 400 * time.Millisecond
	leaseFor        = 200 * time.Millisecond
	dialWithin      = 500 * time.Millisecond
	connections     = 3 // to each other master
)

// Group is this master's place in it.
type Group struct {
	raft      *raft.Raft
	transport *raft.NetworkTransport
}

// Join has this master take part. It listens from now on.
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
	snapshots := raft.NewInmemSnapshotStore() // one is made after thousands of leaders
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

// servers returns all masters as Raft has them, and the address of this one.
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

// Run takes part until ctx is done. It calls reign whenever this master has become the root, with
// its term, which is greater than that of any root before; the context of reign ends with the
// reign.
func (g *Group) Run(ctx context.Context, reign func(ctx context.Context, term uint64)) error {
	end := func() {}
	for {
		select {
		case <-ctx.Done():
			end()
			return errors.Join(g.raft.Shutdown().Error(), g.transport.Close())
		case leads := <-g.raft.LeaderCh():
			end() // also if a loss between two reigns was not told
			end = func() {}
			if leads {
				end = begin(ctx, g.raft.CurrentTerm(), reign)
			}
		}
	}
}

// begin begins a reign, and returns what ends it.
func begin(ctx context.Context, term uint64, reign func(context.Context, uint64)) (end func()) {
	one, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() { defer close(over); reign(one, term) }()
	return func() { cancel(); <-over }
}

// nothing is what the group agrees on.
type nothing struct{}

// Apply is never called: only leaders write, and what they write is empty.
func (nothing) Apply(*raft.Log) any { return nil }

// Snapshot, Restore, Persist and Release have nothing to do.
func (nothing) Snapshot() (raft.FSMSnapshot, error) { return nothing{}, nil }

// Restore is as Snapshot.
func (nothing) Restore(r io.ReadCloser) error { return r.Close() }

// Persist is as Snapshot.
func (nothing) Persist(s raft.SnapshotSink) error { return s.Close() }

// Release is as Snapshot.
func (nothing) Release() {}
