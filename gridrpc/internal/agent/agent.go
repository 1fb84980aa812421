// Package agent is the process between servers and clients: it has a place in the tree, keeps
// what its children report, tells its parent, and answers which servers are best for a
// request. The master is an agent without a parent.
package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/goulfm/goulfm/fd/adaptive"
	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/join"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/ranking"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
	"github.com/goulfm/goulfm/internal/base/mono"
)

// Config is what an agent is started with.
type Config struct {
	Identity *link.Identity
	Desk     *join.Desk // of a master: who has a token comes in by it; nil: nobody does
	Name     string
	Listener net.Listener
	Root     bool
	Parent   string                                           // name of the configured parent
	Tier     int                                              // below the root; 0: one more than that of its first parent
	Address  func(name string) string                         // of an agent
	Oracle   func(ctx context.Context) (*pb.RootReply, error) // who is the root, as masters say
	Known    int                                              // how many ancestors it knows; 0 is 16
	Observed int                                              // how many of them it observes; 0 is a quarter of Known
	Stay     bool                                             // once it has lost its parent it looks for no other
	Trace    bool                                             // tells what it finds out of those around
	Detect   time.Duration                                    // until a silent process around is given up; 0 is 5 s
}

// Agent hosts the rules of an agent.
type Agent struct {
	pb.UnimplementedAgentServer
	pb.UnimplementedNodeServer
	root   bool
	term   uint64 // of the root, if this is it
	name   string
	pulse  *heartbeat.Pulse
	branch *treehost.Branch
	origin time.Time
	news   chan struct{} // has one element when there is something to report

	telling sync.Mutex // held while the parent is told: it hears everything in order

	mu        sync.Mutex
	table     ranking.Table
	keeps     ranking.Keeps
	toldKeeps uint64 // version that the parent knows; 0: none
	questions uint64
	answers   map[uint64]uint64 // by child: the latest question that it has answered
	more      chan struct{}     // closed at each report
}

// detection is how long a silent process around is waited for, as the paper has it.
const detection = 5 * adaptive.Second

// ErrDeposed is the end of a root that is none any more.
var ErrDeposed = errors.New("deposed: a later master is the root")

// Serve runs an agent until ctx is done, or until it is a root that is deposed.
func Serve(ctx context.Context, c Config) error {
	a, err := c.begin(ctx, 0)
	if err != nil {
		return err
	}
	defer a.pulse.Close()
	g := c.newServer()
	pb.RegisterAgentServer(g, a)
	pb.RegisterNodeServer(g, a)
	go func() {
		<-ctx.Done()
		g.Stop()
	}()
	deposed := make(chan struct{})
	if c.Root {
		go func() {
			if a.reign(ctx, c.Oracle) {
				close(deposed)
				g.Stop()
			}
		}()
	}
	a.branch.Start() // who answers first finds the listener
	err = g.Serve(link.Door(c.Listener))
	select {
	case <-ctx.Done():
		return nil
	case <-deposed:
		return ErrDeposed
	default:
		return err
	}
}

// newServer returns the gRPC server of this process.
func (c Config) newServer() *grpc.Server {
	if c.Desk == nil {
		return c.Identity.NewServer()
	}
	return c.Desk.NewServer(c.Identity)
}

// me is a new incarnation of this process, or of its reign.
func (c Config) me() *pb.Ref {
	return &pb.Ref{Name: c.Name, Incarnation: uint64(time.Now().UnixNano()), Addr: c.Listener.Addr().String(), Tier: uint32(c.Tier)}
}

// begin returns an agent that runs until ctx is done, and has no place yet. A root without a term
// takes the time.
func (c Config) begin(ctx context.Context, term uint64) (*Agent, error) {
	me := c.me()
	a := &Agent{
		root: c.Root, term: term, name: c.Name, origin: time.Now(), news: make(chan struct{}, 1),
		answers: map[uint64]uint64{}, more: make(chan struct{}),
	}
	if a.root && term == 0 {
		a.term = me.Incarnation
	}
	var err error
	if a.pulse, err = heartbeat.New(c.Identity, me); err != nil {
		return nil, err
	}
	q := adaptive.QoS{Detection: adaptive.Duration(c.Detect)}
	if c.Detect == 0 {
		q.Detection = detection
	}
	a.branch = treehost.New(ctx, treehost.Config{
		Me: me, Identity: c.Identity, Pulse: a.pulse, Root: c.Root, Term: a.term, Parent: c.Parent,
		Address: c.Address, Detect: q, Owner: a, Known: c.Known, Observed: c.Observed, Stay: c.Stay, Trace: c.Trace,
		Oracle: func(ctx context.Context) (*pb.Ref, error) {
			reply, err := c.Oracle(ctx)
			return reply.GetRoot(), err
		},
	})
	go a.tellParent(ctx)
	return a, nil
}

func (a *Agent) now() mono.Time { return mono.Time(time.Since(a.origin)) }

// Probe says who is here.
func (a *Agent) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: a.branch.Me()}, nil
}

// Beats serves an observer.
func (a *Agent) Beats(stream heartbeat.Stream) error { return a.pulse.Serve(stream) }

// Link keeps a child for as long as its stream lasts.
func (a *Agent) Link(stream treehost.Stream) error { return a.branch.Link(stream) }

// Root says who the root is, if this is it.
func (a *Agent) Root(context.Context, *pb.RootRequest) (*pb.RootReply, error) {
	if !a.root {
		return &pb.RootReply{}, nil
	}
	return &pb.RootReply{Root: a.branch.Me(), Term: a.term}, nil
}

// Describe tells what is known here.
func (a *Agent) Describe(context.Context, *pb.DescribeRequest) (*pb.Description, error) {
	d := &pb.Description{Watched: a.pulse.Watched()}
	a.branch.Describe(d)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.table.Estimates("") {
		d.Estimates = append(d.Estimates, a.toWire(e))
	}
	return d, nil
}

// Say tells a person something.
func (a *Agent) Say(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", a.name, text) }
