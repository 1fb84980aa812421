package agent

import (
	"context"
	"fmt"
	"os"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goulfm/goulfm/gridrpc/internal/heartbeat"
	"github.com/goulfm/goulfm/gridrpc/internal/link"
	"github.com/goulfm/goulfm/gridrpc/internal/pb"
	"github.com/goulfm/goulfm/gridrpc/internal/root"
	"github.com/goulfm/goulfm/gridrpc/internal/treehost"
)

// master is one of several masters. While it is the root, it answers by an agent. Each reign has a
// new agent with an incarnation of its own. At other times it answers that it is not the root, and
// the requester asks the next master.
type master struct {
	pb.UnimplementedAgentServer
	pb.UnimplementedNodeServer
	cfg  Config
	idle *pb.Ref // the identity of this process while another master is the root
	over context.Context

	mu   sync.Mutex
	root *Agent // nil: another master is the root
}

// ServeMaster runs one of several masters until ctx is done. The master is the root during the
// reigns that its group g gives it.
func ServeMaster(ctx context.Context, c Config, g *root.Group) error {
	c.Root = true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &master{cfg: c, idle: c.me(), over: ctx}
	s := c.newServer()
	pb.RegisterAgentServer(s, m)
	pb.RegisterNodeServer(s, m)
	left := make(chan error, 1)
	go func() {
		left <- g.Run(ctx, m.reign)
		s.Stop()
	}()
	err := s.Serve(link.Door(c.Listener))
	cancel()
	if failed := <-left; err == nil {
		err = failed
	}
	return err
}

// reign serves as the root until ctx is done.
func (m *master) reign(ctx context.Context, term uint64) {
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	a, err := m.cfg.begin(own, term)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: cannot be the root: %v\n", m.cfg.Name, err)
		<-ctx.Done()
		return
	}
	defer a.pulse.Close()
	a.branch.Start()
	m.crown(a)
	a.Say(fmt.Sprintf("is the root, of term %d", term))
	<-ctx.Done()
	m.crown(nil)
	if m.over.Err() == nil {
		a.Say("is the root no more")
		a.letGo(term + 1)
	}
}

func (m *master) crown(a *Agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root = a
}

// reigning returns the root that this master is, or an error.
func (m *master) reigning() (*Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil {
		return nil, status.Error(codes.Unavailable, "is not the root")
	}
	return m.root, nil
}

// Root returns this process if it is the root, else an empty reply.
func (m *master) Root(ctx context.Context, r *pb.RootRequest) (*pb.RootReply, error) {
	a, err := m.reigning()
	if err != nil {
		return &pb.RootReply{}, nil
	}
	return a.Root(ctx, r)
}

// Probe returns the identity of this process.
func (m *master) Probe(ctx context.Context, r *pb.ProbeRequest) (*pb.ProbeReply, error) {
	a, err := m.reigning()
	if err != nil {
		return &pb.ProbeReply{Me: m.idle}, nil
	}
	return a.Probe(ctx, r)
}

// Describe returns the state of the root, or the identity alone at another master.
func (m *master) Describe(ctx context.Context, r *pb.DescribeRequest) (*pb.Description, error) {
	a, err := m.reigning()
	if err != nil {
		return &pb.Description{Me: m.idle}, nil
	}
	return a.Describe(ctx, r)
}

// Schedule is Agent.Schedule at the root, and an error at another master. So are Find, Link and
// Beats.
func (m *master) Schedule(ctx context.Context, r *pb.ScheduleRequest) (*pb.ScheduleReply, error) {
	a, err := m.reigning()
	if err != nil {
		return nil, err
	}
	return a.Schedule(ctx, r)
}

// Find is Agent.Find at the root.
func (m *master) Find(ctx context.Context, r *pb.FindRequest) (*pb.FindReply, error) {
	a, err := m.reigning()
	if err != nil {
		return nil, err
	}
	return a.Find(ctx, r)
}

// Link is Agent.Link at the root.
func (m *master) Link(stream treehost.Stream) error {
	a, err := m.reigning()
	if err != nil {
		return err
	}
	return a.Link(stream)
}

// Beats is Agent.Beats at the root.
func (m *master) Beats(stream heartbeat.Stream) error {
	a, err := m.reigning()
	if err != nil {
		return err
	}
	return a.Beats(stream)
}
