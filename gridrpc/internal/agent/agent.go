// Package agent hosts the process between servers and clients. An agent has a place in the tree,
// stores the reports of its children, reports to its parent, and answers which servers are best for
// a request. The master is an agent without a parent.
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

// Config configures an agent.
type Config struct {
	Identity *link.Identity
	Desk     *join.Desk // of a master: admits the holders of tokens; nil: admits none
	Name     string
	Listener net.Listener
	Root     bool
	Parent   string                                           // name of the configured parent
	Tier     int                                              // below the root; 0: one more than that of its first parent
	Address  func(name string) string                         // of an agent
	Oracle   func(ctx context.Context) (*pb.RootReply, error) // asks the masters for the root
	Known    int                                              // number of known ancestors; 0 is 16
	Observed int                                              // number of these that it observes; 0 is (Known-1)/4, rounded up
	Stay     bool                                             // does not search for another parent after the loss of its own
	Trace    bool                                             // prints events of its neighbours in the tree
	Detect   time.Duration                                    // silence after which a neighbour is given up; 0 is 5 s
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

	telling sync.Mutex // held during a report to the parent, so that reports keep their order

	mu        sync.Mutex
	table     ranking.Table
	keeps     ranking.Keeps
	toldKeeps uint64 // version that the parent knows; 0: none
	questions uint64
	answers   map[uint64]uint64 // by child: the number of the latest question that it answered
	more      chan struct{}     // closed at each report
}

// detection is the silence after which a neighbour in the tree is given up, as in the paper.
const detection = 5 * adaptive.Second

// ErrDeposed is the error of Serve at a root that was deposed.
var ErrDeposed = errors.New("deposed: a later master is the root")

// Serve runs an agent until ctx is done, or until the agent is a root that is deposed.
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
	a.branch.Start() // the listener is open: the first process that answers can connect
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

// me returns a new incarnation of this process, or of its reign.
func (c Config) me() *pb.Ref {
	return &pb.Ref{Name: c.Name, Incarnation: uint64(time.Now().UnixNano()), Addr: c.Listener.Addr().String(), Tier: uint32(c.Tier)}
}

// begin returns an agent that runs until ctx is done, and that has no place in the tree yet. The
// term of a root without one is the present time.
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

// Probe returns the identity of this process.
func (a *Agent) Probe(context.Context, *pb.ProbeRequest) (*pb.ProbeReply, error) {
	return &pb.ProbeReply{Me: a.branch.Me()}, nil
}

// Beats serves an observer.
func (a *Agent) Beats(stream heartbeat.Stream) error { return a.pulse.Serve(stream) }

// Link serves a child until its stream ends.
func (a *Agent) Link(stream treehost.Stream) error { return a.branch.Link(stream) }

// Root returns this process if it is the root, else an empty reply.
func (a *Agent) Root(context.Context, *pb.RootRequest) (*pb.RootReply, error) {
	if !a.root {
		return &pb.RootReply{}, nil
	}
	return &pb.RootReply{Root: a.branch.Me(), Term: a.term}, nil
}

// Describe returns the state of this agent.
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

// Say prints a line for a person.
func (a *Agent) Say(text string) { fmt.Fprintf(os.Stderr, "%s: %s\n", a.name, text) }
